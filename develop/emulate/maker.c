/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sockets of another network namespace: a process that stays there makes them, and sends their descriptors. */

#include "relay.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/util.h"

/* One byte, with a descriptor or without. 0 or a negative errno. */
static int send_socket(int to, int fd)
{
        union {
                struct cmsghdr align;
                char bytes[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        char byte = 0;
        struct iovec iovec = { &byte, 1 };
        struct msghdr message = { .msg_iov = &iovec, .msg_iovlen = 1 };

        if (fd >= 0) {
                struct cmsghdr *header;

                message.msg_control = &control;
                message.msg_controllen = sizeof(control.bytes);
                header = CMSG_FIRSTHDR(&message);
                header->cmsg_level = SOL_SOCKET;
                header->cmsg_type = SCM_RIGHTS;
                header->cmsg_len = CMSG_LEN(sizeof(int));
                memcpy(CMSG_DATA(header), &fd, sizeof(fd));
        }
        return sendmsg(to, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static _Noreturn void serve(int fd)
{
        int32_t type;

        while (recv(fd, &type, sizeof(type), 0) == sizeof(type)) {
                _cleanup_close_ int made = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

                if (send_socket(fd, made) < 0)
                        break;
        }
        _exit(0);
}

int maker_start(int *ret)
{
        int pair[2];
        pid_t pid;

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        pid = fork();
        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                close(pair[0]);
                serve(pair[1]);
        }
        close(pair[1]);
        if (pid < 0) {
                close(pair[0]);
                return -errno;
        }
        *ret = pair[0];
        return pid;
}

int maker_socket(int maker, int type)
{
        union {
                struct cmsghdr align;
                char bytes[CMSG_SPACE(sizeof(int))];
        } control = { 0 };
        char byte;
        struct iovec iovec = { &byte, 1 };
        struct msghdr message = { .msg_iov = &iovec, .msg_iovlen = 1, .msg_control = &control,
                                  .msg_controllen = sizeof(control.bytes) };
        int32_t wanted = type;
        struct cmsghdr *header;
        int fd;

        if (send(maker, &wanted, sizeof(wanted), MSG_NOSIGNAL) < 0 || recvmsg(maker, &message, MSG_CMSG_CLOEXEC) <= 0)
                return -EPIPE;
        header = CMSG_FIRSTHDR(&message);
        if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
                return -EMFILE;
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
        return fd;
}
