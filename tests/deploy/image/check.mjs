// Checks the Dockerfile, and that each check of it can fail.
//
// - dockerfile-utils finds nothing to complain about;
// - every source of COPY and every RUN script is a file of this repository that .dockerignore lets in, and every stage named exists;
// - every step of a RUN is one of deploy/image.sh, with sections that deploy/packages.txt has;
// - base images have a tag; the last stage runs as a number that is not root, the one of the chart and of deploy/image.sh;
// - it has labels, an ENTRYPOINT and a CMD without a shell, and its health check is `proofmill client health`.
//
// usage: check.mjs [--self_test]    (run from the project's root)

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { DockerfileParser } = require('dockerfile-ast');
const { validate } = require('dockerfile-utils');

const read = (name) => readFileSync(name, 'utf8');
const TRACKED = execFileSync('git', ['ls-files'], { encoding: 'utf8' }).trim().split('\n');
const IGNORED = read('.dockerignore').trim().split('\n');
const SECTIONS = [...read('deploy/packages.txt').matchAll(/^\[(\w+)\]$/gm)].map((match) => match[1]);
const USER = /^SERVICE_ID=(\d+)$/m.exec(read('deploy/image.sh'))[1];
const LABELS = ['title', 'description', 'licenses', 'version', 'revision'].map((name) => `org.opencontainers.image.${name}`);

const inContext = (source) =>
  TRACKED.some((name) => source === '.' || name === source || name.startsWith(`${source.replace(/\/$/, '')}/`)) &&
  !IGNORED.some((pattern) => source === pattern || source.startsWith(`${pattern}/`));

function* problemsOfCopies(instructions, stages) {
  for (const copy of instructions.filter((one) => one.getKeyword() === 'COPY')) {
    const from = copy.getFlags().find((flag) => flag.getName() === 'from')?.getValue();
    const words = copy.getArguments().map((word) => word.getValue());
    if (from !== undefined && !stages.includes(from)) yield `COPY takes from the stage ${from}, which does not exist`;
    if (from === undefined) for (const source of words.slice(0, -1)) if (!inContext(source)) yield `COPY takes ${source}, which is no file of ours`;
  }
}

function* problemsOfRuns(instructions) {
  const runs = instructions.filter((one) => one.getKeyword() === 'RUN').map((one) => one.getArgumentsContent().replace(/--mount=\S+ /g, ''));
  if (runs.length === 0) yield 'there is no RUN';
  for (const run of runs) {
    const step = /^(?:\/run\/src\/)?deploy\/image\.sh (packages|build|user)\b ?(.*)$/.exec(run);
    if (step === null) yield `RUN does "${run}", a step of deploy/image.sh expected`;
    else if (step[1] === 'packages') for (const section of step[2].split(' ')) if (!SECTIONS.includes(section)) yield `packages.txt has no section ${section}`;
    if (/[&|;]/.test(run)) yield `RUN does more than one step: "${run}"`;
  }
  for (const section of ['build', 'runtime']) if (!runs.some((run) => run.endsWith(`packages ${section}`))) yield `no RUN installs the section ${section}`;
}

function* problemsOfBases(file, stages) {
  const defaults = new Map(file.getARGs().map((one) => [one.getProperty()?.getName(), one.getProperty()?.getValue()]));
  for (const from of file.getFROMs()) {
    const image = from.getImage().replace(/^\$\{(\w+)\}$/, (_, name) => defaults.get(name) ?? '');
    if (!stages.includes(image) && !/^[a-z0-9./-]+:(?!latest$)[\w.-]+$/.test(image)) yield `FROM takes ${image || 'nothing'}, an image with a tag expected`;
  }
}

function* problemsOfResult(instructions) {
  const last = (keyword) => instructions.filter((one) => one.getKeyword() === keyword).at(-1);
  const words = (keyword) => (last(keyword)?.getArguments() ?? []).map((word) => word.getValue());
  if (words('USER').join(' ') !== `${USER}:${USER}`) yield `USER is "${words('USER')}", ${USER}:${USER} expected`;
  const label = last('LABEL')?.getArgumentsContent() ?? '';
  for (const name of LABELS) if (!label.includes(`${name}="`)) yield `the label ${name} is missing`;
  const health = last('HEALTHCHECK')?.getArgumentsContent() ?? '';
  if (!health.includes('CMD ["proofmill", "client", "health"')) yield 'the health check is not `proofmill client health`, without a shell';
  if (last('ENTRYPOINT')?.getArgumentsContent() !== '["proofmill"]') yield 'the ENTRYPOINT is not ["proofmill"]';
  if (!/^\["serve", /.test(last('CMD')?.getArgumentsContent() ?? '')) yield 'the CMD is not `serve`, without a shell';
}

function problemsOf(text) {
  const file = DockerfileParser.parse(text);
  const instructions = file.getInstructions();
  const stages = file.getFROMs().map((from) => from.getBuildStage()).filter((name) => name !== null);
  const problems = validate(text).map((one) => `line ${one.range.start.line + 1}: ${one.message}`);
  for (const target of ['cpu', 'cuda']) if (!stages.includes(target)) problems.push(`there is no target ${target}`);
  if (stages.at(-1) !== 'cuda') problems.push(`the last stage is ${stages.at(-1)}, cuda expected`);
  return [...problems, ...problemsOfCopies(instructions, stages), ...problemsOfRuns(instructions), ...problemsOfBases(file, stages), ...problemsOfResult(instructions)];
}

const MUTANTS = [
  ['COPY . .', 'CPY . .'],
  ['--interval=10s', '--interval=10x'],
  ['COPY deploy/lib deploy/lib', 'COPY deploy/gone deploy/lib'],
  ['COPY deploy/lib deploy/lib', 'COPY build deploy/lib'],
  ['COPY --from=build-cpu', 'COPY --from=build-gpu'],
  ['packages runtime', 'packages run'],
  ['packages build', 'packages test'],
  ['RUN deploy/image.sh packages build', 'RUN apt-get update && apt-get install -y g++'],
  ['image.sh build cpu /out', 'image.sh build cpu /out && rm -rf /src'],
  ['FROM debian:12-slim', 'FROM debian'],
  ['FROM debian:12 ', 'FROM debian:latest '],
  ['ARG CUDA_IMAGE=nvidia/cuda:13.0.1-devel-ubuntu24.04', 'ARG CUDA_IMAGE=nvidia/cuda'],
  ['USER 10001:10001\n', ''],
  ['USER 10001:10001', 'USER root'],
  ['org.opencontainers.image.licenses', 'org.opencontainers.image.licence'],
  ['CMD ["proofmill", "client", "health"', 'CMD ["curl", "http"'],
  ['ENTRYPOINT ["proofmill"]', 'ENTRYPOINT proofmill'],
  ['CMD ["serve"', 'CMD ["prove"'],
  ['AS cpu\n', 'AS plain\n'],
];

const text = read('Dockerfile');
let problems;
if (process.argv[2] === '--self_test') {
  problems = MUTANTS.filter(([from, to]) => !text.includes(from) || problemsOf(text.replace(from, to)).length === 0).map((mutant) => `accepted: ${mutant}`);
  console.log(`${MUTANTS.length} mistakes planted, ${problems.length} accepted`);
} else {
  problems = problemsOf(text);
  console.log(`Dockerfile: ${problems.length} problems`);
}
problems.forEach((problem) => console.log(problem));
process.exit(problems.length === 0 ? 0 : 1);
