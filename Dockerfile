# The image of a release: the command alone, which is linked statically. goreleaser puts a folder for each platform
# beside this file.
FROM gcr.io/distroless/static-debian12:nonroot
ARG TARGETPLATFORM
COPY $TARGETPLATFORM/mkl /usr/local/bin/mkl
WORKDIR /data
ENTRYPOINT ["/usr/local/bin/mkl"]
