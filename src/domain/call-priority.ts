/** A re-run of so few cells is one that a person waits for. */
const FEW_CELLS = 50;

/**
 * Priority of a run's model calls in the queue of their engine, 1 (first) to 5; 3 is Temporal's own middle. Calls
 * of a resume or retry of few cells go before those of bulk runs. The order of declared requests is none of its
 * business: the run starts its cells in that order, and a priority would let one run starve another's later requests.
 */
export const toCallPriority = (cells: { readonly generation: number; readonly planned: number }): number =>
  cells.generation > 1 && cells.planned <= FEW_CELLS ? 2 : 3;
