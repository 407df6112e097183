# The parts that are built, and the files and folders from which each part is made. ./weft builds a part again if one of its
# files is newer. tests/build/sources.test.mjs compares these lists with the files that the compilers read.
# Paths are relative to the repository. A folder stands for everything below it.
build_files=(cmake CMakeLists.txt CMakePresets.json scripts/build scripts/parts.sh)
native_sources=(src "${build_files[@]}")
tests_sources=(src fuzz tests/data "${build_files[@]}")
web_sources=(src/common src/engine src/worker src/bindings src/apps/worker src/CMakeLists.txt "${build_files[@]}"
  web/src web/packages/llm web/scripts web/public web/index.html web/package.json web/package-lock.json web/tsconfig.json
  web/vite.config.ts examples chain/layout.mjs)
chain_sources=(chain scripts/build scripts/parts.sh)
