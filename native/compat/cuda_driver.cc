// What ggml calls of NVIDIA's driver, found when it is called: an addon that is linked with the
// driver's library cannot be loaded where there is none, as in a container that was started without
// GPUs. CUDA's runtime looks for the driver by itself, and ggml calls these once it has found a
// GPU.

#include <cuda.h>
#include <dlfcn.h>

namespace {

void* Find(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

}  // namespace

// cuda.h may define a name as that of a newer version, which is what the driver is asked for.
#define OI_TEXT(name) #name
#define OI_DRIVER(name, parameters, arguments)                                           \
  CUresult CUDAAPI name parameters {                                                     \
    static const auto function = reinterpret_cast<decltype(&name)>(Find(OI_TEXT(name))); \
    return function == nullptr ? CUDA_ERROR_NOT_INITIALIZED : function arguments;        \
  }

OI_DRIVER(cuGetErrorString, (CUresult error, const char** text), (error, text))
OI_DRIVER(cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal))
OI_DRIVER(cuDeviceGetAttribute, (int* value, CUdevice_attribute attribute, CUdevice device),
          (value, attribute, device))
OI_DRIVER(cuMemGetAllocationGranularity,
          (size_t * granularity, const CUmemAllocationProp* properties,
           CUmemAllocationGranularity_flags option),
          (granularity, properties, option))
OI_DRIVER(cuMemAddressReserve,
          (CUdeviceptr * address, size_t size, size_t alignment, CUdeviceptr wanted,
           unsigned long long flags),
          (address, size, alignment, wanted, flags))
OI_DRIVER(cuMemAddressFree, (CUdeviceptr address, size_t size), (address, size))
OI_DRIVER(cuMemCreate,
          (CUmemGenericAllocationHandle * handle, size_t size,
           const CUmemAllocationProp* properties, unsigned long long flags),
          (handle, size, properties, flags))
OI_DRIVER(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))
OI_DRIVER(cuMemMap,
          (CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
           unsigned long long flags),
          (address, size, offset, handle, flags))
OI_DRIVER(cuMemUnmap, (CUdeviceptr address, size_t size), (address, size))
OI_DRIVER(cuMemSetAccess,
          (CUdeviceptr address, size_t size, const CUmemAccessDesc* access, size_t count),
          (address, size, access, count))
