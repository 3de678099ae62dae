/** How long a value is as JSON, before any of it is made. */
import { MAX_TEXT, type QueryGuard } from "./query-guard.js";
import { isFunction } from "./query-language.js";

/** Ends the query where a value's JSON would be too long. A value can hold another many times over. */
export function checkJson(value: unknown, what: string, guard: QueryGuard): void {
  const open: unknown[] = [value];
  let length = 0;
  while (open.length > 0) {
    guard.round();
    const each = open.pop();
    length += typeof each === "string" ? each.length + 2 : 1;
    if (typeof each === "object" && each !== null && !isFunction(each)) {
      if (Array.isArray(each)) for (const item of each as unknown[]) open.push(item);
      else {
        for (const key of Object.keys(each)) {
          length += key.length + 3;
          open.push((each as Record<string, unknown>)[key]);
        }
      }
    }
    if (length > MAX_TEXT || open.length > MAX_TEXT) guard.checkText(what, Infinity);
  }
}
