// launch WHAT… -- PROGRAM…: starts a program with less than it is used to.
//   mdwe          memory that was writable never becomes executable
//   no-memfd      memfd_create fails with EPERM
//   no-ptrace     neither ptrace nor process_vm_readv and process_vm_writev
//   no-membarrier membarrier fails with EPERM
//   no-code       pwrite fails with EPERM, by which code is written
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Lets a system call fail with EPERM from now on.
static int deny(int number) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv) {
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--"); i++) {
    int failed = 1;
    if (!strcmp(argv[i], "mdwe")) failed = prctl(65 /* PR_SET_MDWE */, 1UL, 0UL, 0UL, 0UL);
    if (!strcmp(argv[i], "no-memfd")) failed = deny(SYS_memfd_create);
    if (!strcmp(argv[i], "no-ptrace")) failed = deny(SYS_ptrace) || deny(SYS_process_vm_writev) || deny(SYS_process_vm_readv);
    if (!strcmp(argv[i], "no-membarrier")) failed = deny(SYS_membarrier);
    if (!strcmp(argv[i], "no-code")) failed = deny(SYS_pwrite64);
    if (failed) return perror(argv[i]), 99;
  }
  if (i + 1 >= argc) return 98;
  execvp(argv[i + 1], argv + i + 1);
  perror(argv[i + 1]);
  return 127;
}
