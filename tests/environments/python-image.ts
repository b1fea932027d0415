import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type Docker from 'dockerode';
import { listLibraries, makeRootFilesystem } from './root-filesystem.ts';

const PYTHON = '/usr/bin/python3';
const LEFT_OUT = new Set([
  'test',
  'tests',
  '__pycache__',
  'idlelib',
  'lib2to3',
  'ensurepip',
  'tkinter',
  'turtledemo',
]);

/** Gives an engine an image with this machine's python3, under the name that a run file asks for. */
export async function importPythonImage(docker: Docker, name: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'assay-python-'));
  try {
    const root = join(folder, 'rootfs');
    makeRootFilesystem(root);
    copyPython(root);
    spawnSync('tar', ['-C', root, '-cf', join(folder, 'rootfs.tar'), '.']);
    const [repo, tag] = name.split(':');
    const stream = await docker.importImage(join(folder, 'rootfs.tar'), { repo, tag });
    for await (const _chunk of stream) continue;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyPython(root: string): void {
  const look =
    'import os, sys, sysconfig; print(os.path.realpath(sys.executable)); print(sysconfig.get_path("stdlib"))';
  const [program = '', library = ''] = execFileSync(PYTHON, ['-c', look], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const isMeant = (path: string): boolean =>
    !LEFT_OUT.has(basename(path)) && !basename(path).startsWith('config-');
  cpSync(library, join(root, library), { recursive: true, filter: isMeant });
  mkdirSync(join(root, dirname(program)), { recursive: true });
  copyFileSync(program, join(root, program));
  symlinkSync(program, join(root, 'bin/python3'));
  for (const binary of [program, ...globSync(join(library, 'lib-dynload/*.so'))]) {
    for (const needed of listLibraries(binary)) {
      mkdirSync(join(root, dirname(needed)), { recursive: true });
      copyFileSync(needed, join(root, needed));
    }
  }
}
