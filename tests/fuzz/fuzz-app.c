/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"
#include "app/app.h"
#include "fuzz.h"

/*
 * A process of another user defines its app: by its name, group, arguments, environment, mounts and its flatpak's file,
 * and as a window. The resulting id is always printable and fits. Files are separated by 0xff, which is in no text; the
 * window's id follows the last one.
 */

static const char *const files[] = { "proc/9/cgroup", "proc/9/cmdline", "proc/9/environ", "proc/9/mountinfo",
                                     "proc/9/root/.flatpak-info" };
static char folder[64];
static int root_fd = -1;
static struct apps *apps; /* one for all, as it reads the desktop entries of the machine */

static void remove_folder(void)
{
        apps_free(apps);
        tree_remove(folder);
}

static void make_folder(void)
{
        static const char above[] = "1 (systemd) S 0 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 1 0 0\n";
        static const char entry[] = "[Desktop Entry]\nType=Application\nName=Game\nExec=game\nStartupWMClass=Klass\n";

        fuzz_place(folder, "app");
        fuzz_assert(mkdtemp(folder));
        atexit(remove_folder);
        root_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fuzz_assert(tree_write(folder, "proc/1/stat", above, strlen(above)));
        fuzz_assert(tree_write(folder, "usr/share/applications/org.x.Game.desktop", entry, strlen(entry)));
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                fuzz_assert(tree_write(folder, files[i], "", 0));
        fuzz_assert(mkdirat(root_fd, "proc/9/ns", 0755) == 0);
        fuzz_assert(symlinkat("mnt:[4026532000]", root_fd, "proc/9/ns/mnt") == 0);
        fuzz_assert(apps_new(root_fd, NULL, &apps) == 0);
}

/* Most are empty, input after input. */
static void write_file(size_t i, const uint8_t *data, size_t size)
{
        static int fds[ARRAY_SIZE(files)];
        static bool written[ARRAY_SIZE(files)];

        if (fds[i] == 0)
                fds[i] = openat(root_fd, files[i], O_WRONLY | O_CLOEXEC);
        if (size == 0 && !written[i])
                return;
        fuzz_assert(ftruncate(fds[i], 0) == 0 && pwrite(fds[i], data, size, 0) == (ssize_t)size);
        written[i] = size > 0;
}

/* Up to the next 0xff, or all. */
static size_t part(const uint8_t *data, size_t size)
{
        const uint8_t *end = size ? memchr(data, 0xff, size) : NULL;

        return end ? (size_t)(end - data) : size;
}

static void check_id(const char *app)
{
        char printable[APP_ID_MAX];

        fuzz_assert(*app && memchr(app, '\0', APP_ID_MAX));
        fuzz_assert(strcmp(util_printable(app, printable, sizeof(printable)), app) == 0);
}

static void ask(const char *comm, const char *window)
{
        static uint64_t start_time; /* each time another process of that number */
        struct app_process process = { .pid = 9, .ppid = 1, .start_time = ++start_time, .uid = 1000, .comm = comm };
        char app[APP_ID_MAX];

        fuzz_assert(apps_find(apps, &process, app) == 0);
        check_id(app);
        if (apps_find_window(apps, 9, start_time, window, app) == 0)
                check_id(app);
        if (apps_find_window(apps, 0, 0, window, app) == 0)
                check_id(app);
        apps_forget(apps, 9, start_time);
        apps_sweep(apps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char comm[16], window[APP_ID_MAX], bytes[APP_ID_MAX];
        size_t length = part(data, size);

        if (root_fd < 0)
                make_folder();
        snprintf(comm, sizeof(comm), "%.*s", (int)length, (const char *)data);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
                data += MIN(length + 1, size);
                size -= MIN(length + 1, size);
                length = part(data, size);
                write_file(i, data, length);
        }
        data += MIN(length + 1, size);
        size -= MIN(length + 1, size);
        snprintf(bytes, sizeof(bytes), "%.*s", (int)size, (const char *)data);
        util_printable(bytes, window, sizeof(window)); /* like the agent's message */
        ask(comm, window);
        return 0;
}
