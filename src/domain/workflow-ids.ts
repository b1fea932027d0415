import { hashText } from './stable-hash.ts';

const MAX_PART_BYTES = 40;

/** Percent-encodes a name for use in a workflow id; above 40 bytes it keeps its start and ends in a hash. */
export function encodePart(name: string): string {
  const encoded = encodeURIComponent(name.toWellFormed());
  if (encoded.length <= MAX_PART_BYTES && name.isWellFormed()) return encoded;
  const start = encoded.slice(0, MAX_PART_BYTES - 15).replace(/%.?$/, '');
  return `${start}~${hashText(name).toString(16).padStart(14, '0')}`;
}

export const toRunWorkflowId = (runId: string): string => `run/${encodePart(runId)}`;

/** Later generations run beside what is left of earlier ones, so they carry their number. */
const generationSuffix = (generation: number): string => (generation > 1 ? `/g${generation}` : '');

export const toTaskWorkflowId = (task: {
  readonly runId: string;
  readonly requestName: string;
  readonly modelId: string;
  readonly caseId: string;
  readonly generation: number;
}): string =>
  [toRunWorkflowId(task.runId), ...[task.requestName, task.modelId, task.caseId].map(encodePart)].join('/') +
  generationSuffix(task.generation);

export const toPackWorkflowId = (pack: {
  readonly runId: string;
  readonly requestName: string;
  readonly from: number;
  readonly to: number;
  readonly generation: number;
}): string =>
  `${toRunWorkflowId(pack.runId)}/${encodePart(pack.requestName)}/tasks/${pack.from}-${pack.to}` +
  generationSuffix(pack.generation);

export const toAttemptWorkflowId = (taskWorkflowId: string, attempt: number): string =>
  `${taskWorkflowId}/a${attempt}`;
