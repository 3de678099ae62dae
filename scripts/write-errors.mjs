#!/usr/bin/env node
// Writes the table of error codes in docs/errors.md from the codes themselves.
//
//   node scripts/write-errors.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { ERROR_CODES } from "../dist/src/index.js";

const file = fileURLToPath(new URL("../docs/errors.md", import.meta.url));
const [before, , after] = readFileSync(file, "utf8").split(/<!-- (?:codes|end) -->/);
const rows = Object.entries(ERROR_CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
const table = ["", "", "| code | meaning |", "| --- | --- |", ...rows, "", ""].join("\n");
const text = `${before}<!-- codes -->${table}<!-- end -->${after}`;
writeFileSync(file, await format(text, { parser: "markdown", printWidth: 120, proseWrap: "preserve" }));
