# Throng with a Java 17 and JMeter's jars, for scripts and plug-ins that run in Java.
#
#     .ci/package target/dist/throng packages
#     docker build -f containers/Containerfile.java -t throng:java packages
#
# Jars of plug-ins are mounted into a JMeter's folder, or added by an image of one's own: RUN throng jvm install --plugins.
ARG BASE=docker.io/library/debian:bookworm-slim

FROM ${BASE}
ARG TARGETARCH
ARG VERSION=unknown
# Where jars come from, if not from Maven Central.
ARG THRONG_MAVEN_REPOSITORY=
LABEL org.opencontainers.image.title="throng" \
      org.opencontainers.image.description="Load tests by JMeter plans, with Java 17 for scripts and plug-ins" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
COPY throng_*_${TARGETARCH}.deb /tmp/throng.deb
# The jars are everybody's: whoever runs the image only reads them.
ENV THRONG_CACHE=/usr/share/throng
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates openjdk-17-jre-headless /tmp/throng.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/throng.deb \
    && throng jvm install \
    && chmod -R a+rX /usr/share/throng \
    && useradd --uid 65532 --create-home nonroot
USER nonroot
WORKDIR /work
ENTRYPOINT ["/usr/bin/throng"]
CMD ["help"]
