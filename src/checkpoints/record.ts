/** What a checkpoint is, in a file of two lines: itself, and the digest that tells whether it is damaged. */
import { createHash } from "node:crypto";
import type { Checkpoint } from "../runtime/checkpoint.js";
import { failure } from "./failure.js";
import { isDigest } from "./tree.js";

/** What was under one path. */
export interface RecordedTree {
  /** Absolute and real. */
  readonly path: string;
  /** The object that holds its entries. */
  readonly tree: string;
}

/** A checkpoint as `DirectoryCheckpoints` keeps it. */
export interface DirectoryCheckpoint extends Checkpoint {
  /** Files, folders and links in it. */
  readonly files: number;
  /** Bytes of its files. */
  readonly bytes: number;
}

/** A checkpoint and where its trees are. */
export interface CheckpointRecord {
  readonly checkpoint: DirectoryCheckpoint;
  readonly trees: readonly RecordedTree[];
}

const FORMAT = "toolcell-checkpoint/1";

/** A record as a file. */
export function textOf(record: CheckpointRecord): string {
  const line = JSON.stringify({ format: FORMAT, ...record });
  return `${line}\n${digestOf(line)}\n`;
}

/** @throws ToolRuntimeError `CHECKPOINT_FAILED` where it is damaged, or of another version */
export function recordOf(text: string, file: string): CheckpointRecord {
  const [line = "", digest] = text.split("\n");
  if (digestOf(line) !== digest) throw failure(`The checkpoint in "${file}" is damaged.`, { file, problem: "damaged" });
  const { format, checkpoint, trees } = JSON.parse(line) as CheckpointRecord & { format?: unknown };
  if (format !== FORMAT || !trees.every(({ tree }) => isDigest(tree))) {
    throw failure(`The checkpoint in "${file}" is of another format than ${FORMAT}.`, { file });
  }
  return { checkpoint, trees };
}

function digestOf(line: string): string {
  return createHash("sha256").update(line).digest("hex");
}
