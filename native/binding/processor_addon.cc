// processor.node, beside the addon: an array of the names of the instructions that the addon was
// compiled for and this processor lacks. A file of its own, as what constructors of the addon use
// cannot be known before it is loaded, and none of them can make loading it fail.

#include <node_api.h>

#include "../processor/lacking.h"

NAPI_MODULE_INIT() {
  napi_value names = nullptr;
  if (napi_create_array(env, &names) != napi_ok) return exports;
  uint32_t count = 0;
  oi::ForEachLacking([&](const char* name) {
    napi_value text = nullptr;
    if (napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &text) != napi_ok) return;
    if (napi_set_element(env, names, count, text) == napi_ok) ++count;
  });
  return names;
}
