import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { ToolCapability } from "../../src/protocol/tool.js";
import { emptyGrant, grantFor, realPath, type GrantedResources } from "../../src/runtime/grant.js";
import { resolveCapability } from "../../src/runtime/tool-spec.js";
import { contextOf, specOf } from "../support/runtimes.js";
import type { BindResourceInput } from "../../src/runtime/execution-context.js";

describe("runtime/grant", () => {
  let root: string;

  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "toolcell-grant-")));
    await mkdir(join(root, "repo"));
    await mkdir(join(root, "data"));
    await writeFile(join(root, "repo", "file"), "");
    await symlink("repo", join(root, "link"));
    await symlink("missing", join(root, "dangling"));
  });

  after(() => rm(root, { recursive: true, force: true }));

  const granted = (
    capability: ToolCapability,
    resources: readonly (Partial<BindResourceInput> & { slotName: string })[],
    readOnly = false,
  ): GrantedResources => {
    const boundResources = resources.map((each) => ({ resourceId: each.slotName, resourceType: "folder", ...each }));
    return grantFor(
      resolveCapability(specOf("acme/tool"), capability),
      contextOf("plan", { boundResources, readOnly }),
      512,
    );
  };

  it("emptyGrant() grants nothing", () => {
    expect(emptyGrant(64)).to.deep.equal({
      readOnly: true,
      read: [],
      write: [],
      net: false,
      spawn: false,
      env: {},
      memoryMb: 64,
    });
  });

  it("grantFor() hides a slot that the capability does not name", () => {
    const { grant, resources } = granted({}, [{ slotName: "repo", path: join(root, "repo"), access: "read_write" }]);
    expect(resources).to.deep.equal([]);
    expect(grant).to.include({ readOnly: true });
    expect([grant.read, grant.write]).to.deep.equal([[], []]);
  });

  it("grantFor() lets read what is named under read or write", () => {
    const path = join(root, "repo");
    const { grant, resources } = granted({ fs: { read: ["repo"] } }, [
      { slotName: "repo", path, access: "read_write" },
    ]);
    expect(grant.read).to.deep.equal([path]);
    expect(grant.write).to.deep.equal([]);
    expect(resources[0]).to.include({ slotName: "repo", access: "read_only", path });
  });

  it("grantFor() lets write only where capability, resource and plan all say so", () => {
    const path = join(root, "repo");
    for (const writes of [true, false]) {
      for (const access of ["read_only", "read_write"] as const) {
        for (const readOnly of [true, false]) {
          const fs = writes ? { write: ["repo"] } : { read: ["repo"] };
          const { grant, resources } = granted({ fs }, [{ slotName: "repo", path, access }], readOnly);
          const writable = writes && access === "read_write" && !readOnly;
          expect(grant.write, JSON.stringify({ writes, access, readOnly })).to.deep.equal(writable ? [path] : []);
          expect(grant.readOnly).to.equal(!writable);
          expect(grant.read).to.deep.equal([path]);
          expect(resources[0]?.access).to.equal(writable ? "read_write" : "read_only");
        }
      }
    }
  });

  it("grantFor() gives real paths, so that a link grants what it leads to", () => {
    const { grant, resources } = granted({ fs: { read: ["repo"] } }, [{ slotName: "repo", path: join(root, "link") }]);
    expect(grant.read).to.deep.equal([join(root, "repo")]);
    expect(resources[0]?.path).to.equal(join(root, "repo"));
  });

  it("grantFor() shows a resource without a path and grants nothing for it", () => {
    const { grant, resources } = granted({ fs: { read: ["db"] } }, [{ slotName: "db", resourceType: "postgresql" }]);
    expect(resources).to.have.length(1);
    expect(resources[0]).not.to.have.property("path");
    expect(grant.read).to.deep.equal([]);
  });

  it("grantFor() takes memory, network, processes and environment from the capability", () => {
    expect(granted({}, []).grant).to.deep.include({ memoryMb: 512, net: false, spawn: false, env: {} });
    const capability: ToolCapability = { memoryMb: 64, net: ["example.org"], spawn: true, env: { A: "1" } };
    expect(granted(capability, []).grant).to.deep.include(capability);
  });

  it("realPath() resolves links, also above what does not exist yet", () => {
    expect(realPath(join(root, "link", "file"))).to.equal(join(root, "repo", "file"));
    expect(realPath(join(root, "link", "new", "deeper"))).to.equal(join(root, "repo", "new", "deeper"));
    expect(realPath(join(root, "link", "..", "data"))).to.equal(join(root, "data"));
    expect(realPath(join(root, "none", "..", "data"))).to.equal(join(root, "data"));
    expect(realPath("/")).to.equal("/");
  });

  it("realPath() answers for a path that no file can have", () => {
    expect(realPath(join(root, "link", "nul\0byte"))).to.equal(join(root, "repo", "nul\0byte"));
  });
});
