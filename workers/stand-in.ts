/** A tool that does nothing, in a file of its own: a spare loads it to have loaded a tool before one is asked for. */
export const execute = (): undefined => undefined;
