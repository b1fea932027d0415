import { Connection } from '@temporalio/client';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import { failed, passed } from './check.ts';
import type { Check } from './check.ts';
import { connectExternalTemporal } from './external-services.ts';
import type { ExternalTemporal } from './external-services.ts';
import { isAlive } from './process-identity.ts';
import { messageOf } from './stack-error.ts';
import type { StackFile } from './stack-file.ts';
import { isNewEnough } from './temporal-binary.ts';
import { localNamespace } from './temporal-server.ts';
import { retentionDays, searchAttributes } from './temporal-settings.ts';

/** Looks at the server that is used: reachable, new enough, search attributes, how long it keeps closed workflows. */
export async function checkTemporal(
  external: ExternalTemporal | null,
  file: StackFile | null,
): Promise<Check[]> {
  const part = file?.temporal;
  if (external === null && !(part && isAlive(part.process))) {
    return [passed('temporal', 'not running; the first command that needs it starts it')];
  }
  const temporalAddress = external?.temporalAddress ?? `127.0.0.1:${part?.port}`;
  try {
    const connection = external
      ? await connectExternalTemporal(external)
      : await Connection.connect({ address: temporalAddress });
    try {
      const namespace = external?.namespace ?? localNamespace;
      return await connection.withDeadline(Date.now() + 5000, () =>
        checkServer(connection, { temporalAddress, namespace }),
      );
    } finally {
      await connection.close();
    }
  } catch (error) {
    const whatToDo = external
      ? 'Start that server or correct the TEMPORAL_ variables or profile; remove them to use the local server.'
      : 'Run "assay down", then "assay up".';
    return [failed('temporal', `${temporalAddress}: ${messageOf(error)}`, whatToDo)];
  }
}

type Server = { readonly temporalAddress: string; readonly namespace: string };

async function checkServer(connection: Connection, server: Server): Promise<Check[]> {
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  const detail = `server ${serverVersion} at ${server.temporalAddress}, namespace "${server.namespace}"`;
  const reachable = isNewEnough(serverVersion ?? '')
    ? passed('temporal', detail)
    : failed(
        'temporal',
        detail,
        'Assay needs a server of 1.31 or newer: upgrade it, or unset TEMPORAL_ADDRESS to use the local one.',
      );
  return [reachable, await checkAttributes(connection, server), await checkRetention(connection, server)];
}

/** Numbers of Temporal's API for the types of `searchAttributes`. */
const typeNumbers = { Keyword: 2, KeywordList: 7 } as const;

async function checkAttributes(connection: Connection, { namespace }: Server): Promise<Check> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(searchAttributes).filter(
    ([name, type]) => customAttributes?.[name] !== typeNumbers[type],
  );
  if (missing.length === 0) return passed('search attributes', Object.keys(searchAttributes).join(', '));
  const flags = missing.map(([name, type]) => `--name ${name} --type ${type}`).join(' ');
  return failed(
    'search attributes',
    `missing or of another type: ${missing.map(([name]) => name).join(', ')}; runs work without them`,
    `Run: temporal operator search-attribute create --namespace ${namespace} ${flags}`,
  );
}

async function checkRetention(connection: Connection, { namespace }: Server): Promise<Check> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  const days = (optionalTsToMs(config?.workflowExecutionRetentionTtl) ?? 0) / 86_400_000;
  // A server of the user's own keeps what its owner has decided: said, not counted as a fault.
  return passed('retention', `closed workflows stay for ${days} days (the local server: ${retentionDays})`);
}
