// What the system knows of descriptors.

#pragma once

namespace oi {

// How many may be open for connections: what is left belongs to files.
int MostDescriptors();

// Whether the client has taken all that was written.
bool AllSent(int fd);

// Whether the connection is over on both sides, as by a reset: nothing of it is sent any more, and
// what was not taken by then counts as not sent for good.
bool IsOver(int fd);

}  // namespace oi
