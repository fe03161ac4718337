/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Processes that claim to be a flatpak's app: in mount namespaces as bwrap makes them, and in those of an attacker who
 * wants us to open another file of theirs.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/app-private.h"
#include "check.h"
#include "child.h"
#include "util/util.h"

static const struct sandbox {
        const char *name;
        bool root_is_tmpfs, info_is_tmpfs;
        int others; /* mounts before it */
        int want;
} sandboxes[] = {
        { "flatpak", true, true, 0, 0 },
        { "flatpak with many folders", true, true, 80, 0 },
        { "root of another kind", false, true, 0, -ENODATA },
        { "file of another kind", true, false, 0, -ENODATA },
};

static const char text[] = "[Application]\nname=org.example.App\n";
static char folder[] = "/var/tmp/joulecast-flatpak-XXXXXX";

static void must(bool good, const char *what)
{
        if (good)
                return;
        perror(what);
        _exit(1);
}

static void make_tmpfs(const char *path, bool tmpfs)
{
        must((mkdir(path, 0700) == 0 || errno == EEXIST) &&
                     mount(tmpfs ? "tmpfs" : path, path, "tmpfs", tmpfs ? 0 : MS_BIND, NULL) == 0,
             path);
}

static void bind_at(const char *from, const char *to)
{
        must(util_write_file(to, "", 0, 0600) == 0 && mount(from, to, NULL, MS_BIND, NULL) == 0, to);
}

static void live_in(const struct sandbox *sandbox, int ready)
{
        char path[32];

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        must(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "unshare");
        must(chdir(folder) == 0, folder);
        make_tmpfs("data", sandbox->info_is_tmpfs);
        must(util_write_file("data/info", text, strlen(text), 0644) == 0, "data/info");
        make_tmpfs("root", sandbox->root_is_tmpfs);
        for (int i = 0; i < sandbox->others; i++) {
                snprintf(path, sizeof(path), "root/folder-%d", i);
                bind_at("data/info", path);
        }
        bind_at("data/info", "root/.flatpak-info");
        must(chroot("root") == 0 && chdir("/") == 0, "root");
        must(write(ready, "", 1) == 1, "ready");
        pause();
        _exit(1);
}

static void test_sandbox(const struct sandbox *sandbox)
{
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        char id[APP_ID_MAX] = "", byte;
        int ready[2];
        pid_t pid;

        fprintf(stderr, "%s\n", sandbox->name);
        check_int(pipe(ready), 0);
        pid = start_child();
        if (pid == 0)
                live_in(sandbox, ready[1]);
        close(ready[1]);
        check_int(read(ready[0], &byte, 1), 1);
        check_int(app_flatpak_read(root_fd, pid, id, sizeof(id)), sandbox->want);
        check_text(id, sandbox->want ? "" : "org.example.App");
        end_child(pid);
        close(ready[0]);
}

static void remove_folder(void)
{
        char command[64];

        snprintf(command, sizeof(command), "rm -r %s", folder);
        if (system(command) != 0)
                fprintf(stderr, "%s is left behind\n", folder);
}

int main(void)
{
        pid_t pid = start_child();
        int status;

        if (pid == 0)
                _exit(unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0);
        waitpid(pid, &status, 0);
        if (status != 0) {
                printf("skipped: needs root, and mount namespaces\n");
                return 77;
        }
        check(mkdtemp(folder));
        for (size_t i = 0; i < ARRAY_SIZE(sandboxes); i++)
                test_sandbox(&sandboxes[i]);
        remove_folder();
        return check_result();
}
