/** Counts cells as they begin and end. */
import type { NumberPoint } from "./metric.js";
import type { CellEvent } from "./runtime-events.js";

/** One number for each set of attributes. */
class Tally {
  readonly #points = new Map<string, { readonly attributes: Readonly<Record<string, string>>; value: number }>();

  count(attributes: Readonly<Record<string, string>>): void {
    const key = Object.values(attributes).join(" ");
    const point = this.#points.get(key);
    if (point) point.value++;
    else this.#points.set(key, { attributes, value: 1 });
  }

  points(): NumberPoint[] {
    return [...this.#points.values()].map((point) => ({ ...point }));
  }
}

/** Meters cells. */
export class CellMeter {
  readonly #started = new Tally();
  readonly #ended = new Tally();
  readonly #recycled = new Tally();

  readonly heard = ({ cell: { tier }, origin, end, recycled }: CellEvent): void => {
    if (!end) this.#started.count({ tier, origin: origin ?? "cold" });
    else this.#ended.count({ tier, end: end.kind });
    if (recycled) this.#recycled.count({ reason: recycled });
  };

  /** By tier and origin. */
  started(): NumberPoint[] {
    return this.#started.points();
  }

  /** By tier and kind of end. */
  ended(): NumberPoint[] {
    return this.#ended.points();
  }

  /** By reason. */
  recycled(): NumberPoint[] {
    return this.#recycled.points();
  }
}
