import { expect } from "chai";
import { EXIT } from "../../../src/cli/exit-codes.js";
import { temporaryFolder } from "../../fixtures/folder.js";
import { command } from "../command.js";

describe("bench()", () => {
  const folder = temporaryFolder();

  it("refuses what stands behind a plan, as an option that came too late", async () => {
    folder().write("plan.yaml", "steps:\n  - { id: a, tool: builtin/list-files }\n");
    for (const words of [["--plans", "1"], ["{}"], ["--nonsense"]]) {
      const result = await command(["bench", "plan.yaml", ...words], { cwd: folder().path });
      expect(result).to.include({ code: EXIT.usage, stdout: "" });
      expect(result.stderr).to.equal(
        `toolcell: A plan takes no input; "${words[0]}" is too many. Options stand before the plan.\n`,
      );
    }
  });
});
