import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { ToolRuntime } from "../../src/index.js";
import { packageFolder } from "../types/user-program.js";

describe("docs of metrics", () => {
  it("the table of operations.md names every metric with its unit, and no other", async () => {
    await using runtime = new ToolRuntime({ spareCells: 0 });
    const { counters, gauges, histograms } = runtime.metrics();
    const page = readFileSync(join(packageFolder, "docs/operations.md"), "utf8");
    const rows = [...page.matchAll(/^\| `(toolcell\.[a-z_.]+)` \| `([^`]+)` \|/gm)].map(([, name, unit]) => [
      name,
      unit,
    ]);
    expect(rows).to.deep.equal(
      [counters, gauges, histograms].flatMap((group) => Object.entries(group).map(([name, { unit }]) => [name, unit])),
    );
  });
});
