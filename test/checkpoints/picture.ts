/** All that is under a path, to be compared. Names are bytes, one character each. */
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";

/** What an entry is, by its path. */
export type Picture = Readonly<Record<string, string>>;

const onDisk = (path: string): Buffer => Buffer.from(path, "latin1");

/** @param withTimes whether times of change count, to the microsecond */
export function pictureOf(root: string, withTimes = true): Picture {
  const found: Record<string, string> = {};
  const look = (path: string): void => {
    const at = onDisk(Buffer.from(root).toString("latin1") + path);
    const info = lstatSync(at, { bigint: true, throwIfNoEntry: false });
    if (!info) return;
    const mode = (info.mode & 0o7777n).toString(8);
    const time = withTimes ? ` ${info.mtimeNs / 1_000n}` : "";
    if (info.isDirectory()) {
      found[path] = `folder ${mode}${time}`;
      for (const name of readdirSync(at, { encoding: "latin1" })) look(`${path}/${name}`);
    } else if (info.isSymbolicLink()) found[path] = `link ${readlinkSync(at, { encoding: "latin1" })}${time}`;
    else if (info.isFile()) found[path] = `file ${mode}${time} ${told(readFileSync(at))}`;
    else found[path] = "special";
  };
  look("");
  return found;
}

function told(content: Buffer): string {
  return content.length <= 100 ? content.toString("latin1") : createHash("sha256").update(content).digest("hex");
}
