import { expect } from "chai";
import { ToolCancelledError } from "../../src/tool.js";
import { ToolFailure } from "../../tools/failure.js";
import { Query } from "../../tools/query.js";
import { thrownBy } from "../support/outcomes.js";
import { fakeCall, rejectionOf } from "./fake-context.js";

const { cancellationToken } = fakeCall().context;
const query = (text: string, timeoutMs = 60_000): Query => new Query(text, timeoutMs, cancellationToken);
const run = (text: string, input: unknown = {}): Promise<unknown> => query(text).run(input, {});
const failureOf = async (text: string, input: unknown = {}): Promise<ToolFailure> => {
  const error = await rejectionOf(run(text, input));
  expect(error).to.be.instanceOf(ToolFailure);
  return error as ToolFailure;
};

const ENDLESS = "($f := function($x) { $f($x + 1) }; $f(1))";

describe("tools/query", () => {
  it("run() evaluates an expression over each input, with variables", async () => {
    const sum = query("$sum(items.price) * $rate");
    expect(await sum.run({ items: [{ price: 1 }, { price: 2 }] }, { rate: 10 })).to.equal(30);
    expect(await sum.run({ items: [{ price: 5 }] }, { rate: 1 })).to.equal(5);
    expect(await run("missing")).to.equal(undefined);
  });

  it("new Query() says where an expression is wrong", () => {
    const wrong = thrownBy(() => query("a.\n b[c"));
    expect(wrong).to.be.instanceOf(ToolFailure).and.include({ code: "INVALID_EXPRESSION" });
    expect((wrong as ToolFailure).details).to.include({ reason: "S0203", line: 2, column: 5 });
    expect((wrong as ToolFailure).message).to.include("line 2, column 5");
    expect(thrownBy(() => query("(".repeat(50_000)))).to.include({ code: "INVALID_EXPRESSION" });
  });

  it("run() says where an expression fails", async () => {
    const failure = await failureOf('1 +\n "x"');
    expect(failure).to.include({ code: "EXPRESSION_FAILED" });
    expect(failure.details).to.include({ reason: "T2002", line: 1, column: 4 });
    expect((await failureOf('$error("no such thing")')).message).to.include("no such thing");
  });

  it("run() ends a query whose time is up, however it is written", async () => {
    for (const text of [
      ENDLESS,
      `$eval('${ENDLESS}')`,
      "$map([1..1000], function($x) { $map([1..1000], function($y) { $x * $y }) })",
    ]) {
      const error = await rejectionOf(query(text, 1).run({}, {}));
      expect(error, text).to.be.instanceOf(ToolFailure).and.include({ code: "TIMED_OUT" });
    }
  });

  it("run() ends a query that is cancelled, however it is written", async () => {
    for (const text of [ENDLESS, `$eval('${ENDLESS}')`]) {
      const call = fakeCall({ onPoll: (polls, cancel) => (polls === 5 ? cancel() : undefined) });
      const error = await rejectionOf(new Query(text, 60_000, call.context.cancellationToken).run({}, {}));
      expect(error, text).to.be.instanceOf(ToolCancelledError);
      expect(call.polls()).to.equal(5);
    }
  });

  it("run() lets the event loop have its turns", async () => {
    let turns = 0;
    const turn = (): void => {
      turns++;
      if (turns < 3) setImmediate(turn);
    };
    setImmediate(turn);
    const call = fakeCall({ onPoll: (_, cancel) => (turns === 3 ? cancel() : undefined) });
    expect(await rejectionOf(new Query(ENDLESS, 60_000, call.context.cancellationToken).run({}, {}))).to.be.instanceOf(
      ToolCancelledError,
    );
  });

  it("run() bounds recursion and sequences", async () => {
    expect((await failureOf("($f := function($x) { 1 + $f($x + 1) }; $f(1))")).details).to.include({ reason: "D1011" });
    expect((await failureOf("[1..10000].([1..10000])")).details).to.include({ reason: "D2015" });
    expect((await failureOf("[1..9999999]")).details).to.include({ reason: "D2015" });
  });

  it("run() reaches nothing of the host", async () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    for (const text of [
      "constructor",
      "__proto__",
      "$.constructor.constructor",
      "toString",
      '"a".constructor',
      "$sum.constructor",
      "(function($x) { $x }).constructor",
      "$lookup($, 'constructor')",
      "$lookup($, '__proto__')",
      "a.constructor",
      "$sum.*",
      "$sum.**.constructor",
      "$match('a', /a/).constructor",
      "$process",
      "$globalThis",
      "$require",
    ]) {
      expect(await run(text, { a: [1, "b"] }), text).to.equal(undefined);
    }
    for (const text of [
      '{"__proto__": {"polluted": 1}}',
      '$ ~> |$|{"__proto__": {"polluted": 1}}|',
      '$ ~> |__proto__|{"polluted": 1}|',
      '$ ~> |constructor.prototype|{"polluted": 1}|',
      '$merge([$, {"__proto__": {"polluted": 1}}])',
      "$spread($)",
      "$each($, function($v, $k) { {$k: $v} })",
      "${__proto__.x: 1}",
    ]) {
      await run(text, JSON.parse('{"a": 1, "__proto__": {"x": "constructor"}}')).catch(() => undefined);
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).to.deep.equal(before);
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
  });

  it("run() takes no function from data", async () => {
    const lambda = { _jsonata_lambda: true, arguments: [], body: { type: "value", value: 1 }, environment: {} };
    for (const input of [{ f: lambda }, { f: { _jsonata_function: true, implementation: "x" } }]) {
      expect((await failureOf("($f := f; $f())", input)).code).to.equal("EXPRESSION_FAILED");
    }
    expect((await failureOf('{"_jsonata_function": true}')).details).to.include({ reason: "D1013" });
  });

  it("run() leaves the functions of other queries as they are", async () => {
    for (const text of [
      '{"a": 1} ~> |$sum|{"signature": "x", "implementation": "y"}|',
      `$eval('{"a": 1} ~> ' & $string('|') & '$sum' & $string('|') & '{"signature": "x"}' & $string('|'))`,
      '($t := |$sum|{}, ["implementation"]|; $t({}))',
      '($e := $each(?, function($v) { $v }); $e($sum) ~> |$[validate]|{"validate": 1}|)',
    ]) {
      await run(text).catch(() => undefined);
      expect(await run("$sum([1, 2])"), text).to.equal(3);
    }
  });
});
