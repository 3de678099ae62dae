/** The commands, their arguments and options. */
import { Command, InvalidArgumentError, Option } from "commander";
import { approvalCandidates } from "./approval-candidates.js";
import { addApprovals, approveOption } from "./approvals-program.js";
import { candidates } from "./candidates.js";
import { bench, type BenchOptions } from "./commands/bench.js";
import { call, type CallOptions } from "./commands/call.js";
import { checkpoints, type CheckpointsOptions } from "./commands/checkpoints.js";
import { describe, type DescribeOptions } from "./commands/describe.js";
import { doctor, type DoctorOptions } from "./commands/doctor.js";
import { list, type ListOptions } from "./commands/list.js";
import { newTool, type NewToolOptions } from "./commands/new-tool.js";
import { restore, type RestoreOptions } from "./commands/restore.js";
import { run, type RunOptions } from "./commands/run.js";
import { completionScript } from "./completion.js";
import { EXIT, type ExitCode } from "./exit-codes.js";
import { Session } from "./session.js";
import type { Terminal } from "./terminal.js";

const EXIT_HELP = `
Exit codes: 0 done, 1 the tool or plan failed, 2 a mistake in what was asked, 70 toolcell itself failed,
74 the output could not be written, 130 interrupted, 141 nobody read the output, 143 terminated.`;

/**
 * Builds the program.
 * @param done is told how a command ended
 */
export function buildProgram(terminal: Terminal, version: string, done: (code: ExitCode) => void): Command {
  const program = new Command("toolcell");
  program
    .description("Runs tools in isolation: each in a cell of its own.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .enablePositionalOptions()
    .showSuggestionAfterError(true)
    .addHelpText("after", EXIT_HELP);

  withTools(program.command("list").description("list the tools"))
    .addOption(new Option("--namespace <name>", "only those whose name begins so"))
    .action(async (options: ListOptions) => {
      done(await list(terminal, options));
    });

  withBinding(withTools(program.command("describe").description("tell what a tool takes, gives and may do here")))
    .argument("<tool>", "its name; the namespace may be left out")
    .action(async (tool: string, options: DescribeOptions) => {
      done(await describe(terminal, tool, options));
    });

  withBinding(withTools(program.command("call").description("call a tool once; its output goes to stdout")))
    .argument("<tool>", "its name; the namespace may be left out")
    .argument("[input...]", "JSON, @file, - for stdin, or --field value")
    .option("--raw", "print an output that is a text as it is")
    .option("--trace", "tell where the time went")
    .option("-q, --quiet", "no logs, no changes")
    .addOption(timeoutOption())
    .addOption(approveOption())
    .passThroughOptions()
    .addHelpText(
      "after",
      `
Options of toolcell stand before the tool, fields of its input after it:
  toolcell call --json read-file --path README.md
  toolcell call word-frequency '{"path":"README.md"}'
  echo '{"path":"README.md"}' | toolcell call read-file -`,
    )
    .action(async (tool: string, input: string[], options: CallOptions) => {
      done(await call(terminal, tool, input, options));
    });

  withTools(program.command("run").description("run a plan file; its result is one JSON document on stdout"))
    .argument("<plan>", "YAML or JSON")
    .option("--dry-run", "only tell what is wrong, by file, line and column")
    .option("--set <name=value>", "give a parameter, JSON or text; may be repeated", collect, [])
    .option("--checkpoints <folder>", "save there what each call may write, where the plan has requireCheckpoints")
    .option("-q, --quiet", "show nothing while it runs")
    .addOption(approveOption())
    .action(async (plan: string, options: RunOptions) => {
      done(await run(terminal, plan, options));
    });

  addApprovals(program, terminal, done);

  withStore(withJson(program.command("checkpoints").description("list the checkpoints in a store"))).action(
    async (options: CheckpointsOptions) => {
      done(await checkpoints(terminal, options));
    },
  );

  withStore(program.command("restore").description("bring back what a checkpoint has saved"))
    .argument("<id>", "as checkpoints lists it")
    .action(async (id: string, options: RestoreOptions) => {
      done(await restore(terminal, id, options));
    });

  const create = program.command("new").description("create a tool");
  create
    .command("tool")
    .description("create a typed tool, with a test that passes at once, and enter it in the config")
    .argument("<name>", "word-count or acme/word-count")
    .option("--ts", "TypeScript; Node runs it itself from 22.18 on")
    .option("--folder <path>", "where to put it", "tools")
    .action(async (name: string, options: NewToolOptions) => {
      done(await newTool(terminal, name, options));
    });

  withBinding(
    withTools(program.command("bench").description("run many plans at one time and tell where their time goes")),
  )
    .argument("<plan-or-tool>", "a plan file, or a tool's name")
    .argument("[input...]", "the tool's input, as for call")
    .addOption(countOption("--plans <n>", "plans at one time", 10))
    .addOption(countOption("--calls <n>", "calls of each plan, or runs of a plan file", 100))
    .addOption(countOption("--concurrency <n>", "calls under way of each plan", 4))
    .addOption(approveOption())
    .addOption(countOption("--warm-up <n>", "calls of each plan that are not counted", 10, 0))
    .passThroughOptions()
    .action(async (subject: string, input: string[], options: BenchOptions) => {
      done(await bench(terminal, subject, input, options));
    });

  withJson(program.command("doctor").description("tell what this host can hold, by trying it")).action(
    async (options: DoctorOptions) => {
      done(await doctor(terminal, options));
    },
  );

  program
    .command("completion")
    .description("print a script that completes toolcell's words in a shell")
    .argument("<shell>", "bash, zsh or fish")
    .action(async (shell: string) => {
      await terminal.print(completionScript(shell));
      done(EXIT.ok);
    });

  program
    .command("complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .action(async (words: string[]) => {
      const ids = await approvalCandidates(terminal, words);
      const found =
        ids ??
        (await candidates(program, words, async (options) => {
          await using session = await Session.open(terminal, options, { spareCells: 0 });
          return session.runtime.list();
        }));
      if (found.length > 0) await terminal.print(found.join("\n"));
      done(EXIT.ok);
    });
  return program;
}

function withJson(command: Command): Command {
  return command.option("--json", "print JSON");
}

function withStore(command: Command): Command {
  return command.requiredOption("--store <folder>", "the folder that run --checkpoints named");
}

/** Options of commands that load tools. */
function withTools(command: Command): Command {
  return withJson(command)
    .option("--config <file>", "instead of the nearest toolcell.config.{json,yaml,js}")
    .option("--load <module>", "a module to load beside those of the config; may be repeated", collect, []);
}

/** Options of commands whose plan is made here. */
function withBinding(command: Command): Command {
  return command
    .option("--bind <slot=path>", "what a slot is; may be repeated (default: repo is the current folder)", collect, [])
    .option("--write", "let tools write to what is bound");
}

function timeoutOption(): Option {
  return new Option("--timeout <ms>", "deadline in milliseconds").argParser((text) => count(text, 1));
}

function countOption(flags: string, description: string, value: number, least = 1): Option {
  return new Option(flags, description).default(value).argParser((text) => count(text, least));
}

function count(text: string, least: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= least && value < 2 ** 31) return value;
  throw new InvalidArgumentError(`It must be a whole number of at least ${least}.`);
}

function collect(text: string, before: string[]): string[] {
  return [...before, text];
}
