/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compositor.h"
#include "util/util.h"

#define START_LOOKS 1000
#define LOOK_MS 20
#define NOBODY 65534 /* sway does not run as root; that is also the kernel's user for unknown ones */

/*
 * Windows as in an X server without a window manager: where they begin is the upper left corner, and they
 * choose their size.
 */
static const char config[] = "xwayland disable\n"
                             "output * resolution %ux%u position 0 0\n"
                             "default_border none\n"
                             "default_floating_border none\n"
                             "focus_follows_mouse no\n"
                             "for_window [title=\".*\"] floating enable, move absolute position 0 0\n"
                             "for_window [app_id=\".*\"] floating enable, move absolute position 0 0\n";

/* Its own process group: Ctrl-C is not for it. It ends with us. The session's own compositor is not its business. */
static _Noreturn void become_sway(const char *folder, const char *path)
{
        static const char *const none[] = { "WAYLAND_DISPLAY", "DISPLAY", "SWAYSOCK", "I3SOCK" };
        int null = open("/dev/null", O_RDWR);
        sigset_t signals;

        setpgid(0, 0);
        if (geteuid() == 0 && (setgroups(0, NULL) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
                _exit(126);
        prctl(PR_SET_PDEATHSIG, SIGTERM); /* a change of the user takes it back */
        sigemptyset(&signals);
        sigprocmask(SIG_SETMASK, &signals, NULL);
        if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
                _exit(126);
        for (size_t i = 0; i < ARRAY_SIZE(none); i++)
                unsetenv(none[i]);
        setenv("XDG_RUNTIME_DIR", folder, 1);
        setenv("WLR_BACKENDS", "headless", 1);
        setenv("WLR_LIBINPUT_NO_DEVICES", "1", 1);
        setenv("WLR_RENDERER", "pixman", 1);
        execlp("sway", "sway", "-c", path, (char *)NULL);
        _exit(127);
}

static bool accepts(const char *path)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
        return fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static int wait_for_socket(struct compositor *compositor)
{
        for (int i = 0; i < START_LOOKS; i++) {
                int status;

                if (waitpid(compositor->pid, &status, WNOHANG) == compositor->pid) {
                        compositor->pid = -1;
                        return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : -EIO;
                }
                snprintf(compositor->socket, sizeof(compositor->socket), "%s/wayland-1", compositor->folder);
                if (accepts(compositor->socket))
                        return 0;
                poll(NULL, 0, LOOK_MS);
        }
        return -ETIMEDOUT;
}

int compositor_start(unsigned width, unsigned height, struct compositor *ret)
{
        char path[96], text[1024];
        int err;

        *ret = (struct compositor){ .pid = -1, .folder_fd = -1 };
        snprintf(ret->folder, sizeof(ret->folder), "/tmp/joulecast-sway-XXXXXX");
        if (!mkdtemp(ret->folder)) {
                ret->folder[0] = '\0';
                return -errno;
        }
        ret->folder_fd = open(ret->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (ret->folder_fd < 0)
                return -errno;
        snprintf(path, sizeof(path), "%s/config", ret->folder);
        snprintf(text, sizeof(text), config, width, height);
        err = util_write_file(path, text, strlen(text), 0600);
        if (err)
                return err;
        if (geteuid() == 0 && (chown(path, NOBODY, NOBODY) < 0 || fchown(ret->folder_fd, NOBODY, NOBODY) < 0))
                return -errno;
        ret->pid = fork();
        if (ret->pid == 0)
                become_sway(ret->folder, path);
        return ret->pid < 0 ? -errno : wait_for_socket(ret);
}

/* For root it is another user's, who may have put something else in its place. */
static void empty_folder(int fd)
{
        DIR *dir = fdopendir(fd);
        struct dirent *entry;

        while (dir && (entry = readdir(dir)))
                unlinkat(dirfd(dir), entry->d_name, 0);
        if (dir)
                closedir(dir);
        else
                close(fd);
}

void compositor_stop(struct compositor *compositor)
{
        if (compositor->pid > 0) {
                kill(compositor->pid, SIGTERM);
                while (waitpid(compositor->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
                compositor->pid = -1;
        }
        if (!compositor->folder[0])
                return;
        if (compositor->folder_fd >= 0)
                empty_folder(compositor->folder_fd);
        rmdir(compositor->folder);
        compositor->folder[0] = '\0';
}
