import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import sinon from "sinon";
import {
  DirectoryCheckpoints,
  ToolRuntimeError,
  type CheckpointRequest,
  type DirectoryCheckpointsOptions,
} from "../../src/index.js";
import { Folder, temporaryFolder } from "../fixtures/folder.js";
import { rejectionOf, thrownBy } from "../support/outcomes.js";
import { edit, someEdits } from "./edits.js";
import { hookFileSystem, type Hook } from "./file-system-hook.js";
import { pictureOf } from "./picture.js";

const requestOf = (path: string | undefined, rest: Partial<CheckpointRequest> = {}): CheckpointRequest => ({
  planId: "p",
  callId: "c",
  toolName: "acme/write",
  resources: [{ slotName: "repo", resourceId: "r", ...(path !== undefined && { path }) }],
  ...rest,
});

describe("checkpoints/directory-checkpoints", () => {
  const folder = temporaryFolder();
  const undo: (() => void)[] = [];
  afterEach(() => {
    for (const each of undo.splice(0)) each();
  });

  const storeOf = (options: Partial<DirectoryCheckpointsOptions> = {}): DirectoryCheckpoints =>
    new DirectoryCheckpoints({ folder: folder().join("store"), ...options });
  const hook = async (each: Hook): Promise<() => void> => {
    const remove = await hookFileSystem(each);
    undo.push(remove);
    return remove;
  };
  /** Later, so that no file has changed in the tick in which it is looked at. */
  const later = (): void => {
    const clock = sinon.useFakeTimers({ now: Date.now() + 10_000, toFake: ["Date"] });
    undo.push(() => {
      clock.restore();
    });
  };
  const objectsIn = (): string[] => {
    const objects = folder().join("store", "objects");
    return readdirSync(objects).flatMap((prefix) => readdirSync(join(objects, prefix)).map((rest) => prefix + rest));
  };
  const objectOf = (digest: string): string => folder().join("store", "objects", digest.slice(0, 2), digest.slice(2));
  const draftsIn = (): string[] => readdirSync(folder().join("store", "drafts"));
  const failed = async (work: Promise<unknown>, part: string): Promise<ToolRuntimeError> => {
    const error = (await rejectionOf(work)) as ToolRuntimeError;
    expect(error).to.be.instanceOf(ToolRuntimeError).with.property("code", "CHECKPOINT_FAILED");
    expect(error.message).to.include(part);
    return error;
  };

  /** SHA-256 of "hello". */
  const HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

  describe("restore()", () => {
    it("brings back a tree of any kind, whatever was done to it", async function () {
      this.timeout(60_000);
      await fc.assert(
        fc.asyncProperty(someEdits, someEdits, someEdits, async (first, second, third) => {
          const own = new Folder();
          try {
            const path = own.mkdir("tree");
            const store = new DirectoryCheckpoints({ folder: own.join("store") });
            edit(path, first);
            const before = pictureOf(path);
            const one = await store.take(requestOf(path));
            expect(pictureOf(path)).to.deep.equal(before);
            expect(one.files).to.equal(Object.keys(before).length);
            edit(path, second);
            const after = pictureOf(path);
            const two = await store.take(requestOf(path));
            edit(path, third);
            for (const [id, picture] of [
              [one.checkpointId, before],
              [two.checkpointId, after],
              [one.checkpointId, before],
              [one.checkpointId, before],
            ] as const) {
              await store.restore(id);
              expect(pictureOf(path)).to.deep.equal(picture);
            }
          } finally {
            own.remove();
          }
        }),
        { numRuns: 60 },
      );
    });

    it("brings back a single file, and takes away what was not there", async () => {
      const file = folder().write("a.txt", "before");
      chmodSync(file, 0o640);
      const gone = folder().join("later");
      const resources = [
        { slotName: "file", resourceId: "f", path: file },
        { slotName: "new", resourceId: "n", path: gone },
      ];
      const { checkpointId, files, bytes } = await storeOf().take(requestOf(undefined, { resources }));
      expect([files, bytes]).to.deep.equal([2, 6]);
      const before = pictureOf(file);
      rmSync(file);
      mkdirSync(file);
      folder().write("later/deep/b.txt", "new");
      await storeOf().restore(checkpointId);
      expect(pictureOf(file)).to.deep.equal(before);
      expect(pictureOf(gone)).to.deep.equal({});
      expect(readdirSync(folder().path).sort()).to.deep.equal(["a.txt", "store"]);
    });

    it("brings back folders that nobody may write to", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/closed/a.txt", "hello");
      chmodSync(join(path, "closed"), 0o500);
      const before = pictureOf(path);
      const { checkpointId } = await storeOf().take(requestOf(path));
      chmodSync(join(path, "closed"), 0o700);
      folder().write("tree/closed/a.txt", "other");
      folder().write("tree/stray/closed/b.txt", "stray");
      chmodSync(join(path, "stray", "closed"), 0o500);
      chmodSync(join(path, "closed"), 0o500);
      await storeOf().restore(checkpointId);
      const restored = pictureOf(path);
      chmodSync(join(path, "closed"), 0o700);
      expect(restored).to.deep.equal(before);
    });

    it("follows no link, neither one that took a folder's place nor one to be removed", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/sub/a.txt", "hello");
      const outside = folder().write("outside/a.txt", "not yours");
      const before = pictureOf(path);
      const { checkpointId } = await storeOf().take(requestOf(path));
      rmSync(join(path, "sub"), { recursive: true });
      symlinkSync(folder().join("outside"), join(path, "sub"));
      symlinkSync(folder().join("outside"), join(path, "stray"));
      await storeOf().restore(checkpointId);
      expect(pictureOf(path)).to.deep.equal(before);
      expect(readFileSync(outside, "utf8")).to.equal("not yours");
    });

    it("writes to no file that has another name elsewhere", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/a.txt", "hello");
      const outside = folder().write("outside.txt", "other");
      const { checkpointId } = await storeOf().take(requestOf(path));
      rmSync(join(path, "a.txt"));
      linkSync(outside, join(path, "a.txt"));
      await storeOf().restore(checkpointId);
      expect([readFileSync(join(path, "a.txt"), "utf8"), readFileSync(outside, "utf8")]).to.deep.equal([
        "hello",
        "other",
      ]);
    });

    it("is refused where the path leads elsewhere now", async () => {
      const path = folder().mkdir("above/tree");
      folder().write("above/tree/a.txt", "hello");
      const { checkpointId } = await storeOf().take(requestOf(path));
      renameSync(folder().join("above"), folder().join("moved"));
      folder().link("above", folder().mkdir("elsewhere"));
      await failed(storeOf().restore(checkpointId), "leads elsewhere");
      expect(readdirSync(folder().join("elsewhere"))).to.deep.equal([]);
    });

    for (const problem of ["missing", "damaged"] as const) {
      it(`touches nothing where an object is ${problem}`, async () => {
        const path = folder().mkdir("tree");
        folder().write("tree/a.txt", "first");
        folder().write("tree/z.txt", "hello");
        const { checkpointId } = await storeOf().take(requestOf(path));
        folder().write("tree/a.txt", "changed");
        const now = pictureOf(path);
        if (problem === "missing") rmSync(objectOf(HELLO));
        else writeFileSync(objectOf(HELLO), "hellO");
        const error = await failed(storeOf().restore(checkpointId), HELLO);
        expect(error.details["problem"]).to.equal(problem);
        expect(pictureOf(path)).to.deep.equal(now);
      });
    }

    it("is completed by restoring again, wherever it was cut short", async function () {
      this.timeout(60_000);
      const path = folder().mkdir("tree");
      folder().write("tree/kept.txt", "kept");
      folder().write("tree/sub/a.txt", "hello");
      folder().link("tree/link", "sub");
      chmodSync(join(path, "sub"), 0o550);
      const before = pictureOf(path);
      const { checkpointId } = await storeOf().take(requestOf(path));
      let left = Infinity;
      await hook((name, [first]) => {
        if (name !== "handle.close" && --left < 0) throw new Error(`cut short at ${name} ${String(first)}`);
      });
      let cuts = 0;
      for (let step = 1; ; step++) {
        chmodSync(join(path, "sub"), 0o700);
        folder().write("tree/sub/a.txt", `changed ${step}`);
        rmSync(join(path, "link"), { force: true });
        folder().write("tree/link/stray/b.txt", "stray");
        rmSync(join(path, "kept.txt"), { force: true });
        left = step;
        const cut = await storeOf()
          .restore(checkpointId)
          .then(
            () => false,
            () => true,
          );
        left = Infinity;
        await storeOf().restore(checkpointId);
        expect(pictureOf(path), `after ${step} steps`).to.deep.equal(before);
        if (!cut) break;
        cuts++;
      }
      expect(cuts).to.be.above(40);
    });

    it("of what is no id, or of none that there is, is an argument that is wrong", async () => {
      for (const id of ["", "../../x", "0".repeat(14) + "-00000000", 1 as never]) {
        expect(await rejectionOf(storeOf().restore(id))).to.have.property("code", "INVALID_ARGUMENT");
      }
    });
  });

  describe("take()", () => {
    it("reads no file again that is unchanged, also in another process, and stores no content twice", async () => {
      const path = folder().mkdir("tree");
      for (const name of ["a", "b", "c"]) folder().write(`tree/${name}.txt`, "hello");
      folder().write("tree/d.txt", "other");
      later();
      const opened: string[] = [];
      await hook((name, [first]) => {
        const file = String(first);
        if (name === "open" && file.startsWith(path)) opened.push(file.slice(path.length + 1));
      });
      const store = storeOf();
      await store.take(requestOf(path));
      expect(opened.splice(0).sort()).to.deep.equal(["a.txt", "b.txt", "c.txt", "d.txt"]);
      // Two contents and the tree.
      expect(objectsIn()).to.have.lengthOf(3).and.to.include(HELLO);
      await store.take(requestOf(path));
      await storeOf().take(requestOf(path));
      expect(opened).to.deep.equal([]);
      expect(objectsIn()).to.have.lengthOf(3);
      folder().write("tree/b.txt", "HELLO");
      renameSync(join(path, "c.txt"), join(path, "e.txt"));
      await store.take(requestOf(path));
      expect(opened.sort()).to.deep.equal(["b.txt", "e.txt"]);
      expect((await store.list()).map(({ bytes }) => bytes)).to.deep.equal([20, 20, 20, 20]);
    });

    it("sees a change of the same length whose time was set back, in the tick after the last one too", async () => {
      const path = folder().mkdir("tree");
      const file = folder().write("tree/a.txt", "0");
      utimesSync(file, 1_000_000, 1_000_000);
      const ids: string[] = [];
      for (let round = 1; round <= 20; round++) {
        ids.push((await storeOf().take(requestOf(path))).checkpointId);
        writeFileSync(file, String(round % 10));
        utimesSync(file, 1_000_000, 1_000_000);
      }
      for (const [round, id] of ids.entries()) {
        await storeOf().restore(id);
        expect(readFileSync(file, "utf8")).to.equal(String(round % 10));
      }
    });

    it("stores again what the store has lost", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/a.txt", "hello");
      later();
      await storeOf().take(requestOf(path));
      writeFileSync(objectOf(HELLO), "half");
      const { checkpointId } = await storeOf().take(requestOf(path));
      rmSync(path, { recursive: true });
      await storeOf().restore(checkpointId);
      expect(readFileSync(join(path, "a.txt"), "utf8")).to.equal("hello");
    });

    it("tries again where a file changes while it is read, and in the end refuses", async () => {
      const path = folder().mkdir("tree");
      const file = folder().write("tree/a.txt", "x");
      let changes = 2;
      const store = storeOf();
      await hook((name, [first]) => {
        if (name === "open" && String(first) === file && changes-- > 0) appendFileSync(file, "more");
      });
      const { bytes } = await store.take(requestOf(path));
      expect(bytes).to.equal(9);
      changes = Infinity;
      await failed(store.take(requestOf(path)), '"a.txt" changes while it is read');
      expect(await store.list()).to.have.lengthOf(1);
      expect(draftsIn()).to.deep.equal([]);
    });

    it("tries again where a folder changes while it is read", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/a/1.txt", "1");
      folder().write("tree/b/2.txt", "2");
      const store = storeOf();
      let moves = 1;
      await hook((name, [first]) => {
        if (name === "open" && String(first).endsWith("1.txt") && moves-- > 0) {
          renameSync(join(path, "b", "2.txt"), join(path, "a", "2.txt"));
        }
      });
      const { checkpointId } = await store.take(requestOf(path));
      const before = pictureOf(path);
      rmSync(path, { recursive: true });
      await store.restore(checkpointId);
      expect(pictureOf(path)).to.deep.equal(before);
      expect(Object.keys(before)).to.include("/a/2.txt");
    });

    it("refuses what it cannot save: pipes, sockets, links in place of the path, resources without one", async () => {
      const path = folder().mkdir("tree");
      const store = storeOf();
      execFileSync("mkfifo", [join(path, "pipe")]);
      await failed(store.take(requestOf(path)), '"pipe" is a pipe');
      rmSync(join(path, "pipe"));
      const server = createServer().listen(join(path, "socket"));
      await new Promise((resolve) => server.once("listening", resolve));
      await failed(store.take(requestOf(path)), '"socket" is a socket');
      await new Promise((resolve) => server.close(resolve));
      await failed(store.take(requestOf(folder().link("nowhere", "not there"))), "it is a link");
      await failed(store.take(requestOf(undefined)), 'Slot "repo" cannot be saved: it has no path');
      expect(await store.list()).to.deep.equal([]);
      expect(draftsIn()).to.deep.equal([]);
    });

    it("refuses a store that lies in what it saves, and the other way round", async () => {
      const path = folder().mkdir("tree");
      folder().link("way", "tree");
      for (const store of [path, join(path, "store"), folder().join("way", "deep", "store")]) {
        await failed(storeOf({ folder: store }).take(requestOf(path)), "must not lie in each other");
      }
      expect(readdirSync(path)).to.deep.equal([]);
      await failed(storeOf({ folder: folder().path }).take(requestOf(path)), "must not lie in each other");
    });

    it("refuses more entries or bytes than it may hold", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/a.txt", "12345");
      folder().write("tree/b.txt", "12345");
      expect((await storeOf({ maxFiles: 3, maxBytes: 10 }).take(requestOf(path))).files).to.equal(3);
      await failed(storeOf({ maxFiles: 2 }).take(requestOf(path)), "raise maxFiles");
      await failed(storeOf({ maxBytes: 9 }).take(requestOf(path)), "raise maxBytes");
      const other = folder().mkdir("other");
      const resources = [path, other].map((each) => ({ slotName: each, resourceId: each, path: each }));
      await failed(storeOf({ maxFiles: 3 }).take(requestOf(undefined, { resources })), "raise maxFiles");
    });

    it("saves a path that lies in another one with it", async () => {
      const path = folder().mkdir("tree");
      const file = folder().write("tree/sub/a.txt", "hello");
      const resources = [join(path, "sub"), path, file].map((each) => ({
        slotName: each,
        resourceId: each,
        path: each,
      }));
      const { files } = await storeOf().take(requestOf(undefined, { resources }));
      expect(files).to.equal(3);
    });

    it("stops when it is told to", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/a.txt", "hello");
      const controller = new AbortController();
      const store = storeOf();
      await hook((name, [first]) => {
        if (name === "open" && String(first).startsWith(path)) controller.abort(new Error("stop"));
      });
      for (let times = 0; times < 2; times++) {
        expect(await rejectionOf(store.take(requestOf(path), controller.signal))).to.have.property("message", "stop");
      }
      expect(await store.list()).to.deep.equal([]);
      expect(draftsIn()).to.deep.equal([]);
    });

    it("leaves a whole checkpoint or none, wherever it is cut short", async function () {
      this.timeout(60_000);
      const path = folder().mkdir("tree");
      folder().write("tree/a.txt", "hello");
      folder().write("tree/sub/b.txt", "other");
      let left = Infinity;
      await hook((name) => {
        // All that follows fails too: a process that dies takes nothing away any more.
        if (name !== "handle.close" && --left < 0) throw new Error("cut short");
      });
      let whole = 0;
      for (let step = 0; ; step++) {
        folder().write("tree/a.txt", `hello ${step}`);
        const now = pictureOf(path);
        left = step;
        const cut = await storeOf()
          .take(requestOf(path))
          .then(
            () => false,
            () => true,
          );
        left = Infinity;
        const listed = await storeOf().list();
        for (const { checkpointId } of listed.slice(whole)) {
          folder().write("tree/a.txt", "lost");
          await storeOf().restore(checkpointId);
          expect(pictureOf(path)).to.deep.equal(now);
        }
        whole = listed.length;
        if (!cut) break;
        expect(step).to.be.below(200);
      }
      await storeOf().prune({ keep: 1 });
      await storeOf().take(requestOf(path));
      expect(draftsIn()).to.deep.equal([]);
    });
  });

  describe("list()", () => {
    it("gives the checkpoints of a plan, or all, oldest first, also where the clock is set back", async () => {
      expect(await storeOf().list()).to.deep.equal([]);
      const path = folder().mkdir("tree");
      const clock = sinon.useFakeTimers({ now: 1_000_000, toFake: ["Date"] });
      undo.push(() => {
        clock.restore();
      });
      const taken = [];
      for (const [index, now] of [1_000_000, 1_000_000, 5, 2_000_000].entries()) {
        clock.setSystemTime(now);
        const planId = index % 2 === 0 ? "even" : "odd";
        taken.push(await storeOf().take(requestOf(path, { planId, callId: String(index), parentCallId: "p" })));
      }
      expect(await storeOf().list()).to.deep.equal(taken);
      expect((await storeOf().list("odd")).map(({ callId }) => callId)).to.deep.equal(["1", "3"]);
      expect(taken[3]).to.deep.include({ planId: "odd", createdAt: "1970-01-01T00:33:20.000Z", files: 1, bytes: 0 });
      expect(taken[0]!.resources).to.deep.equal([{ slotName: "repo", resourceId: "r", path }]);
    });

    it("tells of a record that is damaged, or of another format", async () => {
      const path = folder().mkdir("tree");
      const { checkpointId } = await storeOf().take(requestOf(path));
      const record = folder().join("store", "checkpoints", `${checkpointId}.json`);
      const text = readFileSync(record, "utf8");
      writeFileSync(record, text.replace('"planId":"p"', '"planId":"q"'));
      await failed(storeOf().list(), "is damaged");
      await failed(storeOf().restore(checkpointId), "is damaged");
    });
  });

  describe("remove() and prune()", () => {
    it("take away checkpoints and the objects that nobody needs", async () => {
      const path = folder().mkdir("tree");
      const ids: string[] = [];
      for (const content of ["hello", "first", "second", "hello"]) {
        folder().write("tree/a.txt", content);
        ids.push((await storeOf().take(requestOf(path, { planId: content }))).checkpointId);
      }
      const before = objectsIn().length;
      expect(await storeOf().remove(ids[0]!)).to.deep.include({ checkpoints: 1, objects: 1 });
      expect(objectsIn()).to.include(HELLO);
      const report = await storeOf().prune({ keep: 1 });
      expect(report).to.include({ checkpoints: 2, objects: 4 }).and.to.have.property("bytes").that.is.above(11);
      expect(objectsIn()).to.have.lengthOf(before - 5);
      expect((await storeOf().list()).map(({ checkpointId }) => checkpointId)).to.deep.equal([ids[3]]);
      folder().write("tree/a.txt", "lost");
      await storeOf().restore(ids[3]!);
      expect(readFileSync(join(path, "a.txt"), "utf8")).to.equal("hello");
      expect(await storeOf().prune({ keep: 0, planId: "first" })).to.include({ checkpoints: 0 });
      expect(await rejectionOf(storeOf().remove(ids[0]!))).to.have.property("code", "INVALID_ARGUMENT");
      for (const wrong of [undefined, { keep: -1 }, {}, { keep: 1.5 }]) {
        expect(await rejectionOf(storeOf().prune(wrong as never))).to.have.property("code", "INVALID_ARGUMENT");
      }
    });

    it("leave a store in which what is unchanged is known still", async () => {
      const path = folder().mkdir("tree");
      folder().write("tree/a.txt", "hello");
      later();
      const store = storeOf();
      await store.take(requestOf(path));
      await store.prune({ keep: 0 });
      expect(objectsIn()).to.deep.equal([]);
      const { checkpointId } = await store.take(requestOf(path));
      rmSync(join(path, "a.txt"));
      await store.restore(checkpointId);
      expect(readFileSync(join(path, "a.txt"), "utf8")).to.equal("hello");
    });
  });

  it("works side by side, one after the other", async () => {
    const path = folder().mkdir("tree");
    folder().write("tree/a.txt", "hello");
    const store = storeOf();
    await Promise.all([
      ...Array.from({ length: 5 }, () => store.take(requestOf(path))),
      store.prune({ keep: 2 }),
      store.take(requestOf(path)),
    ]);
    const listed = await store.list();
    expect(listed).to.have.lengthOf(3);
    for (const { checkpointId } of listed) await store.restore(checkpointId);
  });

  it("keeps what it stores from other users", async () => {
    const path = folder().mkdir("tree");
    folder().write("tree/a.txt", "hello");
    await storeOf().take(requestOf(path));
    expect(statSync(folder().join("store")).mode & 0o777).to.equal(0o700);
    expect(statSync(objectOf(HELLO)).mode & 0o777).to.equal(0o600);
  });

  it("new DirectoryCheckpoints() refuses options that are wrong", () => {
    for (const options of [
      undefined,
      {},
      { folder: "" },
      { folder: "x", maxFile: 1 },
      { folder: "x", maxFiles: 0 },
      { folder: "x", maxBytes: -1 },
      { folder: "x", maxBytes: "1" },
    ]) {
      expect(thrownBy(() => new DirectoryCheckpoints(options as never))).to.have.property("code", "INVALID_ARGUMENT");
    }
  });

  it("restore() gives back times that programs have set, of links too", async () => {
    const path = folder().mkdir("tree");
    const file = folder().write("tree/a.txt", "hello");
    const link = folder().link("tree/link", "a.txt");
    utimesSync(file, 5, 0.25);
    lutimesSync(link, 1, 4_000_000_000.5);
    utimesSync(path, 1, 2);
    const before = pictureOf(path);
    const { checkpointId } = await storeOf().take(requestOf(path));
    rmSync(path, { recursive: true });
    await storeOf().restore(checkpointId);
    expect(pictureOf(path)).to.deep.equal(before);
  });
});
