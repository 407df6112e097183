// Keeps drivers loaded until the process ends, only in sanitizer builds. The Vulkan loader closes
// each driver's library after asking it for devices, and the memory of the library's globals is
// then reported as leaked, by code that no longer has a name.
namespace weft::gpu::native {

void keep_drivers_loaded() {}  // Called by instance.cpp, so that the linker takes this file.

}  // namespace weft::gpu::native

extern "C" int dlclose(void*) { return 0; }
