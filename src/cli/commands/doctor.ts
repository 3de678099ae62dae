/** `toolcell doctor`: what this host can hold, by trying it. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, freemem, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { ToolRuntime, type Enforcement, type Plan } from "../../index.js";
import { documentText } from "../document-text.js";
import { EXIT, type ExitCode } from "../exit-codes.js";
import type { ProbeInput } from "../probe.js";
import { milliseconds, table } from "../table.js";
import type { Style, Terminal } from "../terminal.js";
import { UsageError } from "../usage-error.js";

/** One thing that was looked at. */
export interface Finding {
  readonly what: string;
  readonly state: "good" | "limited" | "bad";
  readonly found: string;
}

/** Options of the command. */
export interface DoctorOptions {
  readonly json?: boolean;
}

/** Resident memory of one live cell, as the benchmarks measure it. */
const CELL_MB = 7;
const KILL_AFTER_MS = 100;
const MIB = 1024 * 1024;

export async function doctor(terminal: Terminal, options: DoctorOptions): Promise<ExitCode> {
  const findings = [...hostFindings(), ...(await cellFindings())];
  if (options.json) await terminal.print(documentText(findings));
  else await terminal.print(draw(terminal, findings));
  return findings.some(({ state }) => state === "bad") ? EXIT.failed : EXIT.ok;
}

function draw(terminal: Terminal, findings: readonly Finding[]): string {
  const marks: Readonly<Record<Finding["state"], readonly [Style, string]>> = {
    good: ["green", "✔"],
    limited: ["yellow", "!"],
    bad: ["red", "✖"],
  };
  return table(
    [
      {
        title: "",
        left: true,
        cell: ({ state }) => marks[state][1],
        paint: (text, { state }) => terminal.style(marks[state][0], text),
      },
      { title: "what", left: true, cell: ({ what }) => what },
      { title: "found", left: true, wraps: true, cell: ({ found }) => found },
    ],
    findings,
    terminal.printsToPerson ? terminal.columns - 1 : Infinity,
  );
}

function hostFindings(): Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const supported = major > 20 || (major === 20 && minor >= 19);
  const cores = availableParallelism();
  const flags = [...process.execArgv, ...(process.env["NODE_OPTIONS"] ?? "").split(" ")];
  const heapFlag = flags.find((flag) => /^--max[-_]old[-_]space[-_]size/.test(flag));
  return [
    {
      what: "Node",
      state: supported ? "good" : "bad",
      found: `${process.version}${supported ? "" : ", toolcell needs 20.19 or later"} on ${process.platform} ${process.arch}`,
    },
    { what: "cores", state: "good", found: `${cores}: so many CPU-bound cells run at one time` },
    {
      what: "memory",
      state: "good",
      found: `${Math.round(freemem() / MIB)} of ${Math.round(totalmem() / MIB)} MiB free: room for about ${Math.floor(freemem() / MIB / CELL_MB)} idle cells of ${CELL_MB} MB`,
    },
    {
      what: "heap limit of cells",
      state: heapFlag === undefined ? "good" : "limited",
      found:
        heapFlag === undefined
          ? "capability.memoryMb bounds each cell's V8 heap; buffers are not counted"
          : `${heapFlag} of this process overrides capability.memoryMb: no cell has a heap limit of its own`,
    },
  ];
}

async function cellFindings(): Promise<Finding[]> {
  const folder = await temporaryFolder();
  await using runtime = new ToolRuntime({ spareCells: 0, graceMs: KILL_AFTER_MS });
  try {
    const secret = join(folder, "secret.txt");
    await writeFile(secret, "secret");
    const begin = performance.now();
    await runtime.registerModule(new URL("../probe.js", import.meta.url));
    const plan = runtime.plan({ planId: "doctor", readOnly: true });
    await plan.activate("doctor/probe");
    const cold = performance.now() - begin;
    await probe(plan, { do: "answer" });
    return [
      { what: "a cell starts", state: "good", found: `read and activated in ${milliseconds(cold)} ms` },
      await refused(plan, "files outside of the grant", { do: "read", path: secret }),
      await currentFolder(plan),
      await refused(plan, "writing", { do: "write", path: join(folder, "written.txt") }),
      await refused(plan, "processes", { do: "spawn" }),
      await environment(plan),
      await network(plan),
      await killed(runtime, plan),
    ];
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return [{ what: "a cell starts", state: "bad", found }];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function temporaryFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), "toolcell-doctor-"));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `Nothing can be written into ${tmpdir()}, the folder for temporary files (${String(code)}); set TMPDIR to another.`,
    );
  }
}

/** What a probe answered, or the code of the error that kept it from it. */
async function probe(
  plan: Plan,
  input: ProbeInput,
): Promise<{ readonly output?: unknown; readonly refusedBy?: string }> {
  try {
    return { output: (await plan.execute("doctor/probe", input)).output };
  } catch (error) {
    const { cause } = error as { cause?: { code?: unknown } };
    return { refusedBy: typeof cause?.code === "string" ? cause.code : "an error" };
  }
}

/** What a cell is told to hold of one part of a grant, where it cannot be tried without doing harm. */
async function enforcementOf(plan: Plan, subject: Enforcement["subject"]): Promise<Enforcement | undefined> {
  const { enforcement } = await plan.discover("doctor/probe");
  return enforcement.find((each) => each.subject === subject);
}

async function currentFolder(plan: Plan): Promise<Finding> {
  const own = await enforcementOf(plan, "host.cwd");
  return {
    what: "the current folder",
    state: own?.holds === false ? "limited" : "good",
    found: `${own?.granted ?? "nothing"}: held by ${own?.enforcedBy ?? "the permission flags"}`,
  };
}

async function refused(plan: Plan, what: string, input: ProbeInput): Promise<Finding> {
  const { refusedBy } = await probe(plan, input);
  return refusedBy === undefined
    ? { what, state: "bad", found: "a cell without that grant got through" }
    : { what, state: "good", found: `refused to a cell without that grant (${refusedBy})` };
}

async function environment(plan: Plan): Promise<Finding> {
  const { output } = await probe(plan, { do: "environment" });
  const names = Array.isArray(output) ? output : [];
  return names.length === 0
    ? { what: "environment", state: "good", found: "a cell sees none of this process's variables" }
    : { what: "environment", state: "bad", found: `a cell sees ${names.length} variables` };
}

async function network(plan: Plan): Promise<Finding> {
  const net = await enforcementOf(plan, "net");
  return {
    what: "network",
    state: net?.holds ? "good" : "limited",
    found: net?.holds
      ? `held by ${net.enforcedBy}`
      : `only honest code is held, by ${net?.enforcedBy ?? "nothing"}; Node 25 has a flag`,
  };
}

async function killed(runtime: ToolRuntime, plan: Plan): Promise<Finding> {
  const begin = performance.now();
  try {
    await plan.execute("doctor/probe", { do: "spin" }, { timeoutMs: KILL_AFTER_MS });
  } catch (error) {
    const { outcome } = error as { outcome?: string };
    const time = performance.now() - begin;
    if (outcome === "killed") {
      await probe(plan, { do: "answer" });
      return {
        what: "an endless loop",
        state: "good",
        found: `killed ${milliseconds(time)} ms after it began, and the next call served`,
      };
    }
    return {
      what: "an endless loop",
      state: "bad",
      found: `ended ${outcome ?? "otherwise"}; ${runtime.lateResults} late results`,
    };
  }
  return { what: "an endless loop", state: "bad", found: "it answered" };
}
