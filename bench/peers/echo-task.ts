/** A Piscina task that gives back what it gets. */
export default function echo(value: unknown): unknown {
  return value;
}
