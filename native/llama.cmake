# llama.cpp as a part of this build: its switches, and what is adapted without changing its files.

set(BUILD_SHARED_LIBS OFF CACHE BOOL "" FORCE)
set(GGML_STATIC OFF CACHE BOOL "" FORCE)
set(GGML_CCACHE OFF CACHE BOOL "" FORCE)  # the launcher is set by the build script
# ggml's own thread pool: no libgomp to ship, one pool per engine, and a pool that
# can be told how long to spin.
set(GGML_OPENMP OFF CACHE BOOL "" FORCE)
set(GGML_CUDA ${OI_CUDA} CACHE BOOL "" FORCE)
if(OI_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES ${OI_CUDA_ARCHITECTURES})
elseif(OI_CUDA)
  # ggml asks for this machine's own. Without a GPU, as where an image is built, nvcc would take its
  # oldest then, for which there is no code for tensor cores.
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET)
  if(NOT gpus MATCHES "GPU 0")
    set(CMAKE_CUDA_ARCHITECTURES all-major)
  endif()
endif()
set(GGML_VULKAN ${OI_VULKAN} CACHE BOOL "" FORCE)
set(GGML_METAL ${OI_METAL} CACHE BOOL "" FORCE)
set(GGML_METAL_EMBED_LIBRARY ${OI_METAL} CACHE BOOL "" FORCE)
set(GGML_HIP ${OI_HIP} CACHE BOOL "" FORCE)
set(GGML_RPC ${OI_RPC} CACHE BOOL "" FORCE)

if(OI_PORTABLE)
  set(GGML_NATIVE OFF CACHE BOOL "" FORCE)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
    set(GGML_CPU_ARM_ARCH "armv8.2-a+fp16+dotprod" CACHE STRING "" FORCE)
  else()
    foreach(feature SSE42 AVX AVX2 FMA F16C BMI2)
      set(GGML_${feature} ON CACHE BOOL "" FORCE)
    endforeach()
  endif()
else()
  set(GGML_NATIVE ON CACHE BOOL "" FORCE)
endif()

if(OI_SANITIZE)
  # llama.cpp too: what we hand to it must be right in its memory as well. Undefined behaviour
  # is looked for in our own code alone (below).
  add_compile_options(-fsanitize=address -fno-omit-frame-pointer -g1 -O1)
  add_link_options(-fsanitize=address)
endif()
if(OI_SANITIZE_THREAD)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer -g1 -O1)
  add_link_options(-fsanitize=thread)
endif()

set(LLAMA_BUILD_COMMON ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_TOOLS ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_SERVER ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_UI OFF CACHE BOOL "" FORCE)
set(LLAMA_USE_PREBUILT_UI OFF CACHE BOOL "" FORCE)
set(LLAMA_OPENSSL OFF CACHE BOOL "" FORCE)
set(MTMD_VIDEO OFF CACHE BOOL "" FORCE)
set(LLAMA_BUILD_NUMBER 0)
set(LLAMA_BUILD_COMMIT "${OI_LLAMA_COMMIT}")
add_subdirectory("${OI_LLAMA_DIR}" llama.cpp EXCLUDE_FROM_ALL)
if(OI_CUDA)
  # It replaces the driver's library, which is left out then.
  set(driver "${CMAKE_CURRENT_LIST_DIR}/compat/cuda_driver.cc")
  target_sources(ggml-cuda PRIVATE "${driver}")
  set_source_files_properties("${driver}" TARGET_DIRECTORY ggml-cuda PROPERTIES
    COMPILE_OPTIONS "-fvisibility=hidden")
  target_link_options(ggml-cuda INTERFACE LINKER:--as-needed)
endif()
if(OI_LLAMA_PINNED)
  # Most of a compiler's time goes into headers, so files are compiled in groups: those of a group
  # define no name twice, which is known of this commit alone.
  set_target_properties(llama mtmd PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  macro(oi_group target name)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target}
      PROPERTIES SKIP_UNITY_BUILD_INCLUSION OFF UNITY_GROUP ${name})
  endmacro()
  set(dir "${OI_LLAMA_DIR}/src")
  file(GLOB files "${dir}/llama-kv-cache*.cpp" "${dir}/llama-memory*.cpp")
  oi_group(llama memory ${files})
  oi_group(llama model
    "${dir}/llama-model.cpp" "${dir}/llama-model-loader.cpp" "${dir}/llama-quant.cpp")
  oi_group(llama text
    "${dir}/llama-grammar.cpp" "${dir}/llama-sampler.cpp" "${dir}/llama-vocab.cpp"
    "${dir}/unicode.cpp")
  oi_group(llama rest
    "${dir}/llama.cpp" "${dir}/llama-adapter.cpp" "${dir}/llama-arch.cpp" "${dir}/llama-batch.cpp"
    "${dir}/llama-chat.cpp" "${dir}/llama-cparams.cpp" "${dir}/llama-hparams.cpp"
    "${dir}/llama-impl.cpp" "${dir}/llama-io.cpp" "${dir}/llama-mmap.cpp"
    "${dir}/llama-model-saver.cpp")
  file(GLOB files "${dir}/models/*.cpp")
  set(number 0)
  foreach(file ${files})
    math(EXPR part "${number} / 40")
    oi_group(llama models${part} "${file}")
    math(EXPR number "${number} + 1")
  endforeach()
  set(dir "${OI_LLAMA_DIR}/tools/mtmd")
  file(GLOB files "${dir}/models/*.cpp")
  oi_group(mtmd models ${files})
  oi_group(mtmd rest "${dir}/mtmd.cpp" "${dir}/mtmd-audio.cpp" "${dir}/mtmd-image.cpp")

  # Readers of sounds and pictures, which the addon has no use for: llama.cpp's own programs link
  # them where they need them.
  set(helpers mtmd-helper.cpp mtmd-helper-gen.cpp)
  get_target_property(files mtmd SOURCES)
  list(REMOVE_ITEM files ${helpers})
  set_target_properties(mtmd PROPERTIES SOURCES "${files}")
  list(TRANSFORM helpers PREPEND "${dir}/")
  add_library(oi-mtmd-helper STATIC EXCLUDE_FROM_ALL ${helpers})
  target_link_libraries(oi-mtmd-helper PUBLIC mtmd
    PRIVATE vendor::hash vendor::miniaudio vendor::stb vendor::sheredom)
  foreach(program llama-mtmd-cli llama-mtmd-debug llama-tts server-context)
    target_link_libraries(${program} PRIVATE oi-mtmd-helper)
  endforeach()
endif()
# GCC bug 114098, see the header: without it llama.cpp dies on CPUs with AMX.
set(OI_TILE_CONFIG "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
  set(gcc ${CMAKE_CXX_COMPILER_VERSION})
  if(gcc VERSION_LESS 11.5 OR (gcc VERSION_GREATER_EQUAL 12 AND gcc VERSION_LESS 12.4) OR
     (gcc VERSION_GREATER_EQUAL 13 AND gcc VERSION_LESS 13.3))
    set(OI_TILE_CONFIG -include "${CMAKE_CURRENT_LIST_DIR}/compat/amxtileintrin.h")
  endif()
endif()
set_source_files_properties("${OI_LLAMA_DIR}/ggml/src/ggml-cpu/amx/mmq.cpp"
  TARGET_DIRECTORY ggml-cpu PROPERTIES COMPILE_OPTIONS "${OI_TILE_CONFIG}")
if(OI_SANITIZE)
  # Its arithmetic at full speed: then random operations are mostly our own code's.
  target_compile_options(ggml-cpu PRIVATE -O3)
endif()
if(OI_SANITIZE_THREAD)
  # Its threads share rows by fences, which ThreadSanitizer does not understand.
  target_compile_options(ggml-cpu PRIVATE -O3 -fno-sanitize=thread)
  # The random operations have no pictures.
  target_compile_options(mtmd PRIVATE -O0 -fno-sanitize=thread)
endif()
