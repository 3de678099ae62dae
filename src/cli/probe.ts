/** The tool with which `doctor` tries what this host holds. It is loaded in a cell. */
import { readFileSync, writeFileSync } from "node:fs";

/** What to try. */
export interface ProbeInput {
  readonly do: "answer" | "read" | "write" | "spawn" | "environment" | "spin";
  readonly path?: string;
}

export const spec = {
  name: "doctor/probe",
  description: "Tries what a cell may do.",
  inputSchema: { type: "object" },
  capability: { writes: false },
};

export async function execute(input: ProbeInput): Promise<unknown> {
  switch (input.do) {
    case "read":
      return readFileSync(input.path ?? "", "utf8").length;
    case "write":
      writeFileSync(input.path ?? "", "written by doctor/probe");
      return true;
    case "spawn": {
      const { spawnSync } = await import("node:child_process");
      return spawnSync(process.execPath, ["--version"]).status;
    }
    case "environment":
      return Object.keys(process.env);
    case "spin":
      for (;;);
    default:
      return process.version;
  }
}
