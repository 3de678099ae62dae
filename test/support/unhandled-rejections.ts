/** Fails a test in whose time a promise was rejected that nobody listens to: in a host it would end the process. */

const found: unknown[] = [];

/** Root hooks of the suite. */
export const mochaHooks = {
  beforeAll(): void {
    process.on("unhandledRejection", remember);
  },
  afterAll(): void {
    process.off("unhandledRejection", remember);
  },
  afterEach(): void {
    const reasons = found.splice(0);
    if (reasons.length === 0) return;
    throw new Error("a promise was rejected that nobody listened to", { cause: reasons[0] });
  },
};

function remember(reason: unknown): void {
  // Looked at later: an error thrown here would be nobody's.
  found.push(reason);
}
