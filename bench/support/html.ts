/** Text that is safe in a page. */

/** Markup; what is put into it is escaped unless it is markup itself. */
export class Html {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

type Part = Html | string | number | readonly Html[] | undefined;

/**
 * Makes markup of a template.
 *
 * @example
 * html`<b>${"1 < 2"}</b>`; // <b>1 &lt; 2</b>
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((string, index) => (index === 0 ? "" : written(parts[index - 1])) + string).join(""));
}

function written(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return String(part);
  if (typeof part === "object") return part.join("");
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
