// What the lines for macOS use of its C library, with its signatures and values.
#include <stdint.h>
#include <sys/types.h>

struct statfs {
  uint32_t f_bsize;
  int32_t f_iosize;
  uint64_t f_blocks, f_bfree, f_bavail, f_files, f_ffree;
  int32_t f_fsid[2];
  uint32_t f_owner, f_type, f_flags, f_fssubtype;
  char f_fstypename[16], f_mntonname[1024], f_mntfromname[1024];
  uint32_t f_flags_ext, f_reserved[7];
};
int statfs(const char *path, struct statfs *buffer);
int getmntinfo(struct statfs **buffer, int flags);

int *_NSGetArgc(void);
char ***_NSGetArgv(void);

#define MNT_NOWAIT 2
#define MNT_LOCAL 0x1000
#define F_GETPATH 50
#define O_EVTONLY 0x8000
#define O_SYMLINK 0x200000
#define POSIX_SPAWN_START_SUSPENDED 0x0080
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
