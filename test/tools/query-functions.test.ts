import { expect } from "chai";
import jsonata from "jsonata";
import { ToolCancelledError } from "../../src/tool.js";
import { ToolFailure } from "../../tools/failure.js";
import { Query } from "../../tools/query.js";
import { fakeCall, rejectionOf } from "./fake-context.js";

const { cancellationToken } = fakeCall().context;
const run = (text: string, input: unknown = {}, timeoutMs = 60_000): Promise<unknown> =>
  new Query(text, timeoutMs, cancellationToken).run(input, {});

const DATA = {
  s: "héllo 😀 wörld",
  t: "a,b,,c",
  n: [3, 1, 2, 1],
  o: { x: [1], y: 2, z: [[3], [4, [5]]] },
  p: { q: 1 },
  l: [{ a: 1, b: 2 }, { a: 1, b: 2 }, { b: 2, a: 1 }, { c: "x" }],
  m: [1, "1", 1, null, null, true, [1], [1]],
  e: {},
  f: { a: [] },
};
/** What is not to differ from the library, a line each. */
const SAME = String.raw`
$length(s)
$substring(s, 6)
$substring(s, -5)
$substring(s, -50, 3)
$substring(s, 2, 5)
$substring(s, -5.5, 2.5)
$substring(s, 1.7)
$substring(s, 6, -1)
$substring(s, 50)
$pad("a", 5)
$pad("a", -5, "xy")
$pad("😀", 4, "é😀")
$pad("a", 5, "")
$pad(missing, 3)
$map(["a", "b"], $pad(?, 4, "-"))
$map(["a", "b"], $length)
$split(t, ",")
$split(t, ",", 2)
$split(t, ",", 0)
$split(t, "")
$split(t, /,+/)
$split(t, /,/, 2)
$split(t, /x/)
$split("", ",")
$split("", "")
$split(t, ",", -1)
$join(["a", "b"], "-")
$join([])
$join("a")
$replace(t, ",", "$0")
$replace(t, /(,)/, "[$1$$$0$2]")
$replace(t, /,/, function($m) { $m.match & "!" }, 2)
$replace(t, ",", ";", 1)
$replace(t, "", "x")
$replace(t, /,/, function($m) { 1 })
$replace(t, /b*/, "x")
$replace("abc", /(a)(b)(c)/, "$3$12$x")
$match(t, /[a-c]/)
$match(t, /(b)|(,)/, 2)
$match("a\nb", /^b/m).index
$match("aab", /a\b|b/).match
$contains(t, /B/i)
$contains("a\u00a0b", /a\sb/)
$contains("a\rb", /a.b/)
$contains("b-", /[\s-b]{2}/)
$match("é", /\u00e9/).match
$distinct(m)
$distinct(l)
$distinct([1])
$distinct(n)
$distinct(missing)
$distinct("a")
$distinct([{"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}])
$sort(n)
$sort(["b", "a", "ab"])
$sort(m)
$sort(l, function($x, $y) { $x.a > $y.a })
$sort(n, function($x, $y) { $x < $y })
$spread(l)
$spread(o)
$spread(e)
$spread([])
$spread("a")
$spread(m)
$spread([[o]])
$spread([p])
$max(n)
$min(n)
$max([])
$min(missing)
$zip([1, 2], [3, 4, 5])
$zip(n, missing)
o.*
p.*
e.*
f.*
*
n.*
o.*[0]
*{"a": $}
"a" & 1
missing & "a"
missing & missing
o & n
"a" & $sum
l.(a & b)
1/0 & "a"
$string(n, true)
$string(1.1 * 3)
$clone(o)
$string(1/0)
n.$string()
$reduce(n, $append)
$map(n, function($v, $i, $a) { $v & $i & $count($a) })
($f := $uppercase ~> $trim; $f(" a "))
$eval("1 & 2")
$toMillis("20200102", "[Y0001][M01][D01]")
$fromMillis(0, "[D1o] [MNn] [Y]")
$formatNumber(12345.6, "#,###.00")
$formatInteger(2020, "w")
$lookup(l, "a")
s ~> /h/`;

describe("tools/query-functions", () => {
  it("guardedFunctions() gives what the library gives", async () => {
    for (const text of SAME.trim().split("\n")) {
      const told = async (work: Promise<unknown>): Promise<string> => {
        try {
          const value = await work;
          return value === undefined ? "nothing" : JSON.stringify(value);
        } catch (error) {
          const { code, details } = error as { code: string; details?: { reason?: string } };
          return `fails: ${details?.reason ?? code}`;
        }
      };
      const theirs = await told(jsonata(text).evaluate(structuredClone(DATA)) as Promise<unknown>);
      expect(await told(run(text, structuredClone(DATA))), text).to.equal(theirs);
    }
  });

  it("guardedFunctions() matches in linear time, and says what cannot be", async () => {
    expect(await run(`$match("${"a".repeat(100_000)}!", /^(a+)+$/)`)).to.equal(undefined);
    for (const pattern of [String.raw`a(?=b)`, String.raw`(?<!a)b`, String.raw`(a)\1`, String.raw`(?<x>a)\k<x>`]) {
      const error = await rejectionOf(run(`$contains("ab", /${pattern}/)`));
      expect(error, pattern).to.be.instanceOf(ToolFailure).and.include({ code: "INVALID_PATTERN" });
      expect((error as ToolFailure).message).to.include("linear time");
    }
  });

  it("guardedFunctions() works on long lists in time that their square would exceed", async () => {
    const list = Array.from({ length: 150_000 }, (_, at) => (at * 7919) % 150_000);
    expect(await run("$count($distinct($))", list)).to.equal(150_000);
    expect(await run("$sort($)[149999]", list)).to.equal(149_999);
    expect(await run("$max($) - $min($)", list)).to.equal(149_999);
    expect(
      await run(
        "$count($spread($))",
        list.map((each) => ({ a: each })),
      ),
    ).to.equal(150_000);
    expect(await run("$count(*)", Object.fromEntries(list.map((each) => [`k${each}`, [each]])))).to.equal(150_000);
  });

  it("guardedFunctions() bounds what is made, and says so", async () => {
    for (const text of [
      '$pad("", 30000000, "ab")',
      '$split($pad("", 3000000, "ab"), "a")',
      '$split($pad("", 3000000, "ab"), "")',
      '($a := $pad("", 9000000); $join([$a, $a]))',
      '($a := $pad("", 9000000); $a & $a)',
      '($f := function($x) { $f($x & $x) }; $f("ab"))',
      '$replace($pad("", 9000000, "ab"), "a", "long")',
      '$replace($pad("", 1000, "ab"), /a/, $pad("", 100000))',
      '$encodeUrlComponent($pad("", 9000000, "é"))',
      "($f := function($x, $n) { $n = 0 ? $x : $f([[$x], [$x]], $n - 1) }; $string($f(1, 60)))",
      "($f := function($x, $n) { $n = 0 ? $x : $f([[$x], [$x]], $n - 1) }; $distinct([$f(1, 60), 1]))",
      "$zip([1..1000000], [1..1000000])",
      '$match($pad("", 9000000), /(a?){20}b|c?d/)',
      '$formatNumber(1, $pad("", 2000, "0,"))',
      '$toMillis($pad("", 90, "1"), "[Y]1[M]1[D]1[d]1[H]1[h]1[m]1[s]")',
      '$eval($pad("1", 200000))',
    ]) {
      const error = await rejectionOf(run(text));
      expect(error, text).to.be.instanceOf(ToolFailure).and.include({ code: "TOO_LARGE" });
      expect((error as ToolFailure).message, text).to.match(/more than \d+/);
    }
    for (const text of ['$formatNumber(1/0, "0e0")', '$formatInteger(1/0, "A")']) {
      expect(((await rejectionOf(run(text))) as ToolFailure).details, text).to.include({ reason: "D1001" });
    }
  });

  it("guardedFunctions() ends within a function whose time is up or that is cancelled", async () => {
    for (const text of ["$distinct($)", "$sort($)", "$map($, $string)", "$spread($)", '$join($map($, $string), ",")']) {
      const list = Array.from({ length: 20_000 }, (_, at) => at);
      let looks = 0;
      const call = fakeCall({ onPoll: (polls, cancel) => ((looks = polls) === 8 ? cancel() : undefined) });
      const query = new Query(text, 60_000, call.context.cancellationToken);
      expect(await rejectionOf(query.run(list, {})), text).to.be.instanceOf(ToolCancelledError);
      expect(looks, text).to.equal(8);
    }
    const late = await rejectionOf(run("$map($, $string)", Array.from({ length: 500_000 }, String), 1));
    expect(late).to.include({ code: "TIMED_OUT" });
  });
});
