// What the system knows of descriptors.

#pragma once

namespace oi {

// How many may be open for connections: what is left belongs to files.
int MostDescriptors();

// Whether the client has taken all that was written.
bool AllSent(int fd);

}  // namespace oi
