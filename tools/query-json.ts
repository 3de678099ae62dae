/** `builtin/query-json`: evaluates a JSONata expression over JSON or JSON Lines. */
import { constants } from "node:fs";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { MAX_JSON_BYTES, MAX_RESULTS, QUERY_TIMEOUT_MS, RESULT_LENGTH } from "./defaults.js";
import { answering, shown, ToolFailure } from "./failure.js";
import { jsonFault } from "./json-fault.js";
import { readLines } from "./json-lines.js";
import { JsonResults, plainValue } from "./json-results.js";
import { openFile } from "./open-file.js";
import { locate, openResource, type Located } from "./paths.js";
import { Query } from "./query.js";
import type { Input, Output } from "./specs/query-json.js";
import { TextFile } from "./text-file.js";

/** Queries a file of the resource in slot `repo`, or the value given. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { expression, path, timeoutMs = QUERY_TIMEOUT_MS } = input;
  return answering(path, async () => {
    if ((path === undefined) === !("value" in input)) {
      throw new ToolFailure("INVALID_INPUT", "Give either path or value, one of the two.");
    }
    const query = new Query(expression, timeoutMs, context.cancellationToken);
    const format = input.format ?? (path !== undefined && /\.(?:jsonl|ndjson)$/i.test(path) ? "jsonl" : "json");
    if (path === undefined) {
      if (format === "jsonl") throw new ToolFailure("INVALID_INPUT", "A value is JSON; JSON Lines come from a path.");
      return toolResult({ output: await queryValue(query, input.value, input) });
    }
    const located = await locate(await openResource(context, "repo"), path);
    if (format === "jsonl") return toolResult({ output: await queryLines(query, located, input, context) });
    const { text } = await TextFile.read(located, MAX_JSON_BYTES, context);
    context.cancellationToken.check();
    return toolResult({ output: await queryValue(query, parse(text), input) });
  });
}

/** What matters of the input once it is clear what is queried. */
type Options = Pick<Input, "variables" | "maxResults" | "maxLength" | "invalidLines">;

async function queryValue(query: Query, value: unknown, options: Options): Promise<Output> {
  const { variables = {}, maxResults = MAX_RESULTS, maxLength = RESULT_LENGTH } = options;
  const result = await query.run(value, variables);
  if (!Array.isArray(result)) {
    query.checkResult(result);
    const plain = plainValue(result, maxLength);
    return { ...(plain !== undefined && { result: plain }), truncated: false };
  }
  const results = new JsonResults(maxResults, maxLength);
  for (const each of result as unknown[]) {
    query.checkResult(each);
    results.add(each);
    if (results.truncated) break;
  }
  return { result: results.values, truncated: results.truncated, ...(results.truncated && { total: result.length }) };
}

async function queryLines(query: Query, located: Located, options: Options, context: ToolContext): Promise<Output> {
  const { variables = {}, maxResults = MAX_RESULTS, maxLength = RESULT_LENGTH, invalidLines = "fail" } = options;
  const results = new JsonResults(maxResults, maxLength);
  const { handle, size } = await openFile(located, constants.O_RDONLY);
  let lines = 0;
  let invalid = 0;
  try {
    for await (const { text, number } of readLines(handle, size, context)) {
      context.cancellationToken.check();
      const value = parseLine(text, number, invalidLines);
      if (value === undefined) {
        invalid++;
        continue;
      }
      const result = await query.run(value.parsed, { ...variables, line: number });
      query.checkResult(result);
      results.add(result);
      if (results.truncated) break;
      lines++;
    }
  } finally {
    await handle.close();
  }
  return {
    result: results.values,
    truncated: results.truncated,
    lines,
    ...(invalid > 0 && { invalidLines: invalid }),
  };
}

function parseLine(text: string, number: number, invalidLines: "fail" | "skip"): { parsed: unknown } | undefined {
  try {
    return { parsed: JSON.parse(text) };
  } catch (error) {
    if (invalidLines === "skip") return undefined;
    throw faultOf(text, error, number);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw faultOf(text, error);
  }
}

/** @param number the line that the text is; where it is left out, the text's own lines count */
function faultOf(text: string, error: unknown, number?: number): unknown {
  const fault = jsonFault(text);
  if (!fault) return error;
  const { column, expected, found } = fault;
  const line = number ?? fault.line;
  const there = found === "" ? "nothing follows" : `${shown(found)} stands there`;
  const message = `Line ${line}, column ${column} is not JSON: ${expected} is expected, ${there}.`;
  return new ToolFailure("INVALID_JSON", message, { line, column });
}
