/** A task that never ends. */

/** Says that it runs, and never comes back. */
export function hang(running: Int32Array): never {
  Atomics.store(running, 0, 1);
  for (;;);
}
