# syntax=docker/dockerfile:1
# The image: Debian with glibc (the HTTP library's binary needs it), no dev dependencies, one native binary, not run as root.

# The base image is pinned by its content: the list of the images for all platforms.
FROM node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# No dependency needs an install script. Of the HTTP library's binaries (two builds for many platforms), only the one that is loaded here is kept.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
 && cd node_modules \
 && arch="$(node -p process.arch)" abi="$(node -p process.versions.modules)" \
 && binary="uws_linux_${arch}_${abi}.node" \
 && for kept in "@btc-vision/uwebsockets.js/$binary" "uWebSockets.js/dist/bin/$binary"; do test ! -f "$kept" || break; done \
 && test -f "$kept" \
 && find . -name '*.node' ! -path "./$kept" -delete

# The compiler is a dev dependency, which the image itself does without.
FROM node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS built
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY src ./src
RUN node src/build.ts && find dist -name '*.d.ts' -delete
# What is in the image: packages of npm and of Debian, and Node. Made here, because this stage has the lock file and the same base.
ARG SOURCE_DATE_EPOCH
RUN node src/image-bill.ts > lingate.cdx.json

FROM node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY --from=built /app/dist ./dist
COPY --from=built /app/lingate.cdx.json ./
COPY package.json ./
COPY config ./config
COPY src/lingate.js src/supported-node.js ./src/
RUN chmod +x /app/src/lingate.js \
 && ln -s /app/src/lingate.js /usr/local/bin/lingate \
 && install -d -o 65532 -g 65532 -m 0700 /var/lib/lingate
# In a container, loopback cannot be reached from outside. Publish 8080; do not publish 9090 (metrics, probes).
ENV NODE_ENV=production \
    LINGATE_LISTEN=0.0.0.0:8080 \
    LINGATE_OPS=0.0.0.0:9090 \
    LINGATE_STORE=sqlite:/var/lib/lingate/lingate.db
VOLUME /var/lib/lingate
WORKDIR /var/lib/lingate
EXPOSE 8080 9090
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:9090/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["lingate"]
CMD ["serve"]
