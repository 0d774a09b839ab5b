import CSystem

/// Has all threads take memory from one place. Where each has its own, what the allocator keeps of free
/// memory grows by megabytes with what they hand on to each other. To be called before there are threads.
package func shareFreeMemory() {
  csystem_share_free_memory()
}

/// Gives memory that was used for a time and freed back to the system.
package func returnFreeMemory() {
  csystem_return_free_memory()
}

/// Keeps no more of the program's own code and constants in memory than is used from now on: a start
/// goes through much that is not needed again. What is, comes back by itself.
package func returnProgramPages() {
  csystem_return_program_pages()
}
