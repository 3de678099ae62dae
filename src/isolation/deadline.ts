/** Waits for something, but not for ever. */

/**
 * @param late makes the error when the time is over
 * @param signal ends the wait with its reason
 */
export async function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  late: () => Error,
  signal?: AbortSignal,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(late());
    }, ms);
    stop = () => {
      reject(signal?.reason instanceof Error ? signal.reason : new Error("stopped"));
    };
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    if (stop) signal?.removeEventListener("abort", stop);
  }
}
