import type { AddCommand } from '../command.ts';
import { addCancel } from './cancel.ts';
import { addDoctor } from './doctor.ts';
import { addDown } from './down.ts';
import { addInit } from './init.ts';
import { addList } from './list.ts';
import { addReport } from './report.ts';
import { addResume } from './resume.ts';
import { addRun } from './run.ts';
import { addSchema } from './schema.ts';
import { addShow } from './show.ts';
import { addUp } from './up.ts';
import { addWatch } from './watch.ts';
import { addWorker } from './worker.ts';

/** In the order of the help text. */
export const COMMANDS: readonly AddCommand[] = [
  addInit,
  addRun,
  addWatch,
  addList,
  addShow,
  addReport,
  addCancel,
  addResume,
  addUp,
  addDown,
  addDoctor,
  addSchema,
  addWorker,
];
