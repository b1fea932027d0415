export { run } from './run.ts';
export { task } from './task.ts';
export { attempt } from './attempt.ts';
