FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY web/package.json web/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/bundle.mjs scripts/bundling.mjs scripts/
COPY proto proto
COPY queues queues
COPY actors actors
COPY src src
COPY clients/typescript/src clients/typescript/src
COPY web/index.html web/tsconfig.json web/vite.config.ts web/
COPY web/scripts web/scripts
COPY web/src web/src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24-slim
# For the steps that an agent runs; the control plane needs neither.
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production MILLRACE_DATA_DIR=/var/lib/millrace
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
RUN install -d -o node -g node -m 700 /var/lib/millrace
USER node
EXPOSE 8080 9090 9464
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["--help"]
