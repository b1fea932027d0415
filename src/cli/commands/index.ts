import type { AddCommand } from '../command.ts';
import { addApprove } from './approve.ts';
import { addCancel } from './cancel.ts';
import { addCompare } from './compare.ts';
import { addDoctor } from './doctor.ts';
import { addDown } from './down.ts';
import { addGate } from './gate.ts';
import { addInit } from './init.ts';
import { addList } from './list.ts';
import { addPause } from './pause.ts';
import { addReport } from './report.ts';
import { addResolve } from './resolve.ts';
import { addResume } from './resume.ts';
import { addRetry } from './retry.ts';
import { addRun } from './run.ts';
import { addSandbox } from './sandbox.ts';
import { addSchema } from './schema.ts';
import { addScore } from './score.ts';
import { addSet } from './set.ts';
import { addShow } from './show.ts';
import { addUnpause } from './unpause.ts';
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
  addCompare,
  addGate,
  addApprove,
  addPause,
  addUnpause,
  addSet,
  addResolve,
  addCancel,
  addResume,
  addRetry,
  addScore,
  addUp,
  addDown,
  addDoctor,
  addSandbox,
  addSchema,
  addWorker,
];
