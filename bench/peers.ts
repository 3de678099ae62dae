/** How does toolcell stand beside other ways to use a thread? */
import { comlink } from "./peers/comlink.js";
import type { Peer, PeerKind } from "./peers/peer.js";
import { poolifier } from "./peers/poolifier.js";
import { postMessage } from "./peers/post-message.js";
import { piscina, tinypool } from "./peers/task-pool.js";
import { toolcell } from "./peers/toolcell.js";
import { workerpoolPeer } from "./peers/workerpool.js";
import { row, type Bar, type Benchmark, type Effort, type Row } from "./support/bench.js";
import { interleave, microsecondsPerCall, millisecondsOf } from "./support/rounds.js";

const GRACE_MS = 100;
const KIB = 1_024;
const MIB = 1_024 * KIB;
const INPUT = { text: "how much does a call cost?", count: 1 };

const US = toolcell("toolcell", GRACE_MS);
const PEERS = [
  piscina("piscina"),
  tinypool("tinypool"),
  workerpoolPeer(GRACE_MS),
  poolifier,
  comlink,
  postMessage,
] as const;
/** Pools that can be told to give their thread more than one task at a time. */
const CONCURRENT = [piscina("piscina, 128 at a time", 128), tinypool("tinypool, 128 at a time", 128)];

/** In flight, and calls of one sample: some ten milliseconds of them. */
const LEVELS = [
  [1, 250],
  [16, 1_000],
  [128, 1_920],
] as const;

/** What a chart asks, and what a line of the table is called. */
interface Question {
  readonly question: string;
  readonly short: string;
  readonly unit: string;
}

export const benchmark: Benchmark = {
  title: "Peers",
  how:
    "The same work in one thread of each: a small object, or a buffer, goes to the thread and comes back; a task never ends. " +
    "toolcell validates input and output, checks gates and traces; the others do not. Each sample is one turn of a round in which " +
    `everyone has a turn. toolcell and workerpool are given ${GRACE_MS} ms of grace before a kill; the other pools have none.`,
  run,
};

async function run(effort: Effort): Promise<Row[]> {
  return [
    ...(await withAll([US, ...PEERS, ...CONCURRENT], (peers) => dispatch(peers, effort))),
    ...(await activation(effort)),
    ...(await kill(effort)),
    ...(await withAll([US, ...PEERS], (peers) => payload(peers, effort))),
  ];
}

type Started = ReadonlyMap<PeerKind, Peer>;
type Figures = Readonly<Record<string, readonly number[]>>;

/** Starts them, looks whether they do their work, and closes them in any case. */
async function withAll<Result>(kinds: readonly PeerKind[], use: (peers: Started) => Promise<Result>): Promise<Result> {
  const peers = new Map(kinds.map((kind) => [kind, kind.start()]));
  try {
    for (const [{ name }, peer] of peers) {
      if (!JSON.stringify(await peer.echo(INPUT)).includes(JSON.stringify(INPUT))) throw new Error(`${name}: no echo`);
    }
    return await use(peers);
  } finally {
    await closeAll(peers);
  }
}

async function closeAll(peers: Started): Promise<void> {
  await Promise.all([...peers.values()].map((peer) => peer.close()));
}

function rowsOf(
  { question, short, unit }: Question,
  figures: Figures,
  kinds: readonly PeerKind[],
  more: (kind: PeerKind) => { readonly bar?: Bar; readonly note?: string } = () => ({}),
): Row[] {
  return kinds.map((kind) =>
    row({
      question,
      what: `${short}, against ${kind.name}`,
      unit,
      samples: figures[US.name] ?? [],
      peer: { name: kind.name, samples: figures[kind.name] ?? [] },
      ...more(kind),
    }),
  );
}

async function dispatch(peers: Started, { rounds, quick }: Effort): Promise<Row[]> {
  // The first ten thousand calls are compiled while they run.
  for (const peer of peers.values()) await microsecondsPerCall(16, quick ? 2_000 : 15_000, () => peer.echo(INPUT));
  const rows: Row[] = [];
  for (const [inFlight, calls] of LEVELS) {
    const kinds = [...peers.keys()].filter((kind) => inFlight > 1 || !CONCURRENT.includes(kind));
    const subjects = kinds.map((kind) => ({
      name: kind.name,
      measure: async () => {
        const time = await microsecondsPerCall(inFlight, calls, () => peers.get(kind)!.echo(INPUT));
        return inFlight === 1 ? time : 1_000_000 / time;
      },
    }));
    const figures = await interleave(subjects, { rounds: rounds * 2 + 1 });
    const bar: Bar = inFlight === 1 ? { of: "ratio", atMost: 1 } : { of: "ratio", atLeast: 1 };
    const asked: Question = {
      question:
        inFlight === 1
          ? "How long does a call take, one at a time?"
          : `How many calls a second, ${inFlight} in flight?`,
      short: `${inFlight} in flight`,
      unit: inFlight === 1 ? "µs" : "calls/s",
    };
    const rivals = kinds.filter((kind) => kind !== US);
    rows.push(...rowsOf(asked, figures, rivals, ({ pool }) => (pool ? { bar } : {})));
  }
  return rows;
}

async function activation({ rounds }: Effort): Promise<Row[]> {
  const subjects = [US, ...PEERS].map((kind) => ({
    name: kind.name,
    measure: async () => {
      const begin = performance.now();
      const peer = kind.start();
      await peer.echo(INPUT);
      const time = performance.now() - begin;
      await peer.close();
      return time;
    },
  }));
  const figures = await interleave(subjects, { rounds: rounds * 2 + 1 });
  const question = "How long until a new pool, or thread, has answered its first call?";
  return rowsOf({ question, short: "first answer", unit: "ms" }, figures, PEERS);
}

async function kill({ rounds }: Effort): Promise<Row[]> {
  const atOnce = toolcell("toolcell, no grace", 0);
  const peers = new Map([US, atOnce, ...PEERS].map((kind) => [kind, kind.start()]));
  try {
    const settled: Record<string, number[]> = {};
    const subjects = [...peers].map(([{ name }, peer]) => ({
      name,
      measure: async () => {
        const { stop, next } = await peer.hang();
        const ended = await millisecondsOf(stop);
        (settled[name] ??= []).push(ended);
        return ended + (await millisecondsOf(next));
      },
    }));
    const served = await interleave(subjects, { rounds, warmup: 0 });
    const rivals = [atOnce, ...PEERS];
    const note = ({ stops }: PeerKind): { note: string } => ({ note: stops });
    const untilSettled: Question = {
      question: "A task that never ends is stopped: how soon does its caller hear of it?",
      short: "stop to settled",
      unit: "ms",
    };
    const untilServed: Question = {
      question: "A task that never ends is stopped: how soon is the next call answered?",
      short: "stop to next answer",
      unit: "ms",
    };
    return [
      ...rowsOf(
        untilSettled,
        settled,
        rivals.filter(({ settles }) => settles),
        note,
      ),
      ...rowsOf(untilServed, served, rivals, note),
    ];
  } finally {
    await closeAll(peers);
  }
}

async function payload(peers: Started, { rounds }: Effort): Promise<Row[]> {
  const measure = (calls: number, call: (peer: Peer) => Promise<unknown>) =>
    interleave(
      [...peers].map(([{ name }, peer]) => ({
        name,
        measure: () => microsecondsPerCall(1, calls, () => call(peer)),
      })),
      { rounds: rounds * 2 + 1, warmup: 3 },
    );
  const small = new ArrayBuffer(KIB);
  const large = new ArrayBuffer(MIB);
  const held = new Map<Peer, ArrayBuffer>();
  const handOver = async (peer: Peer): Promise<void> => {
    const before = held.get(peer) ?? new ArrayBuffer(MIB);
    const after = await peer.handOver(before);
    if (before.byteLength !== 0 || after.byteLength !== MIB) throw new Error("the buffer was not handed over");
    held.set(peer, after);
  };
  const copied = ({ handsBack }: PeerKind): { note?: string } =>
    handsBack ? {} : { note: "handed over to the thread, copied on the way back" };
  const asked = (size: string, way: string): Question => ({
    question: `How long does ${size} take there and back, ${way}?`,
    short: `${size} ${way}`,
    unit: "µs",
  });
  return [
    ...rowsOf(asked("1 KiB", "copied"), await measure(200, (peer) => peer.copy(small)), PEERS),
    ...rowsOf(asked("1 MiB", "copied"), await measure(10, (peer) => peer.copy(large)), PEERS),
    ...rowsOf(asked("1 MiB", "handed over"), await measure(100, handOver), PEERS, copied),
  ];
}
