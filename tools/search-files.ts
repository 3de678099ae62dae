/** `builtin/search-files`: finds a pattern in the lines of files, in order and in bounded memory. */
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { toolResult, type ToolAnswer, type ToolContext } from "../src/tool.js";
import { MATCH_BYTES, MAX_MATCHES, SKIPPED_FOLDERS } from "./defaults.js";
import { answering, failureOf } from "./failure.js";
import { FolderWalk, type WalkEntry } from "./folder-walk.js";
import { LineMatcher } from "./line-matcher.js";
import { LineStream } from "./line-stream.js";
import { MatchList } from "./match-list.js";
import { refuseFolderName } from "./open-file.js";
import { locate, openResource, type Located } from "./paths.js";
import { readAhead } from "./read-ahead.js";
import { SearchSource } from "./search-source.js";
import type { Input, Output } from "./specs/search-files.js";

/** Files that are opened before it is their turn; the file system has four threads unless the host says otherwise. */
const AHEAD = 8;

/** Searches files of the resource in slot `repo`. */
export async function execute(input: Input, context: ToolContext): Promise<ToolAnswer<Output>> {
  const { path = "." } = input;
  return answering(path, async () => {
    const search = new Search(input, context);
    const resource = await openResource(context, "repo");
    const located = await locate(resource, path);
    if ((await lstat(located.real)).isDirectory()) await search.files(search.walk.entries(resource, located));
    else await search.file(located, resource.isFile ? basename(resource.given) : located.path);
    return toolResult({ output: search.output });
  });
}

interface Opened {
  readonly path: string;
  /** Absent where the file cannot be read. */
  readonly source?: SearchSource;
}

class Search {
  readonly walk: FolderWalk;
  readonly #context: ToolContext;
  readonly #matcher: LineMatcher;
  readonly #list: MatchList;
  #files = 0;
  #bytes = 0;
  #binary = 0;
  #clippedLines = 0;

  constructor(input: Input, context: ToolContext) {
    const { pattern, literal = false, caseSensitive = true, wholeWord = false } = input;
    const { include = ["**"], exclude = [], includeHidden = false } = input;
    const { skipFolders = [...SKIPPED_FOLDERS], useIgnoreFiles = true } = input;
    const { maxMatches = MAX_MATCHES, maxBytes = MATCH_BYTES, before = 0, after = 0 } = input;
    this.#context = context;
    this.#matcher = new LineMatcher({ pattern, literal, caseSensitive, wholeWord });
    this.#list = new MatchList({ maxMatches, maxBytes, before, after });
    this.walk = new FolderWalk({ include, exclude, includeHidden, skipFolders, useIgnoreFiles }, context);
  }

  get output(): Output {
    const { matches, filesWithMatches, limit } = this.#list;
    return {
      matches,
      files: this.#files,
      filesWithMatches,
      bytes: this.#bytes,
      binaryFiles: this.#binary,
      clippedLines: this.#clippedLines,
      truncated: limit !== undefined,
      ...(limit !== undefined && { limit }),
      unreadable: this.walk.unreadable,
    };
  }

  /** Searches one file after the other. */
  async files(entries: AsyncIterable<WalkEntry>): Promise<void> {
    const opened = readAhead(onlyFiles(entries), {
      ahead: AHEAD,
      work: (entry) => this.#open(entry),
      discard: async ({ source }) => source?.close(),
    });
    for await (const { path, source } of opened) {
      if (!source) this.walk.miss(path);
      else await this.#search(path, source).catch((error: unknown) => this.#missed(path, error));
      if (this.#list.full) return;
    }
  }

  /** Searches the file that the caller named. */
  async file(located: Located, path: string): Promise<void> {
    refuseFolderName(located);
    await this.#search(path, await SearchSource.open(located));
  }

  async #open({ path, real }: WalkEntry): Promise<Opened> {
    try {
      const located = { path, real, realPath: path, exists: true, meansFolder: false };
      return { path, source: await SearchSource.open(located) };
    } catch (error) {
      if (!failureOf(error, path)) throw error;
      return { path };
    }
  }

  #missed(path: string, error: unknown): void {
    if (!failureOf(error, path)) throw error;
    this.walk.miss(path);
  }

  async #search(path: string, source: SearchSource): Promise<void> {
    const stream = new LineStream();
    this.#list.begin(path);
    try {
      for await (const chunk of source.chunks()) {
        this.#context.cancellationToken.check();
        if (chunk === undefined) {
          this.#list.drop();
          this.#binary++;
          return;
        }
        this.#take(stream.push(chunk));
        this.#context.progress(this.#bytes + source.bytes, undefined, path);
        if (this.#list.full) break;
      }
      if (!this.#list.full) this.#take(stream.end());
      this.#files++;
    } finally {
      this.#bytes += source.bytes;
      this.#list.finish();
      await source.close();
    }
  }

  #take(lines: Iterable<{ text: string; number: number; clipped: boolean }>): void {
    for (const line of lines) {
      this.#context.cancellationToken.check();
      if (line.clipped) this.#clippedLines++;
      this.#list.take(line, (text) => this.#matcher.find(text));
      if (this.#list.full) return;
    }
  }
}

async function* onlyFiles(entries: AsyncIterable<WalkEntry>): AsyncGenerator<WalkEntry> {
  for await (const entry of entries) if (entry.type === "file") yield entry;
}
