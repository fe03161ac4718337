/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "check.h"
#include "util/paths.h"
#include "util/util.h"

static void virtual_devices_have_their_own(void)
{
        _cleanup_free_ char *path = NULL, *file = NULL, *other = NULL, *again = NULL;

        setenv("XDG_STATE_HOME", "/state", 1);
        check_int(paths_usage("virtual:nexus-7", false, &path), 0);
        check_text(path, "/state/joulecast/virtual/nexus-7/usage.db");
        check_int(paths_profile("virtual:../../etc/nothing-here.ini", false, &file), -ENOENT);
        check_int(paths_profile("virtual:..", false, &file), -EINVAL);
        check_int(paths_profile("virtual:", false, &file), -EINVAL);
        check_int(paths_profile("real:x", false, &file), -EINVAL);

        check_int(util_write_file("test-paths.ini", "a", 1, 0600), 0);
        check_int(paths_profile("virtual:test-paths.ini", true, &file), 0);
        check_text(file, "/state/joulecast/virtual/test-paths-e40c292c/profile.ini"); /* FNV-1a of "a" */
        check_int(util_write_file("test-paths.ini", "b", 1, 0600), 0);
        check_int(paths_profile("virtual:./test-paths.ini", true, &other), 0);
        check(other && file && strcmp(other, file) != 0);
        check_int(paths_observations("virtual:nexus-7", &again), 0);
        check_text(again, "/state/joulecast/virtual/nexus-7/observations.db");
        remove("test-paths.ini");
}

/* An endless file or a folder is refused as a device; opening a pipe does not wait for a writer. */
static void a_device_is_a_file(void)
{
        _cleanup_free_ char *path = NULL;

        alarm(20);
        check_int(paths_profile("virtual:/dev/zero", false, &path), -EFBIG);
        check_int(paths_profile("virtual:/", false, &path), -EINVAL);
        check_int(paths_profile("virtual:/dev", false, &path), -EISDIR);
        unlink("test-paths.pipe.ini");
        check_int(mkfifo("test-paths.pipe.ini", 0600), 0);
        check_int(paths_profile("virtual:test-paths.pipe.ini", false, &path), 0); /* empty: loading it fails */
        unlink("test-paths.pipe.ini");
        alarm(0);
}

static void data_can_be_said(void)
{
        _cleanup_free_ char *said = NULL, *tree = NULL, *build = paths_build_root();

        setenv("JOULECAST_DATADIR", "/data", 1);
        check_int(paths_data("profiles", &said), 0);
        check_text(said, "/data/profiles");
        unsetenv("JOULECAST_DATADIR");
        check(build != NULL); /* this test runs in its build folder */
        check_int(paths_data("profiles", &tree), 0);
        check(tree && strstr(tree, "/data/profiles") && strncmp(tree, "/usr", 4) != 0);
}

/* tests/house/test-home.py moves an installation. This is not a program of joulecast, so it has no prefix. */
static void other_programs_have_no_prefix(void)
{
        _cleanup_free_ char *outside = paths_installed("/no/prefix/at/all"), *empty = paths_installed("");

        check_text(outside, "/no/prefix/at/all");
        check_text(empty, "");
}

static void the_journal_has_one_place(void)
{
        _cleanup_free_ char *path = NULL;

        setenv("XDG_STATE_HOME", "/state", 1);
        check_int(paths_journal(&path), 0);
        check_text(path, geteuid() == 0 ? "/var/lib/joulecast-calibrate/restore.ini" : "/state/joulecast/restore.ini");
}

/* "--truth /dev/stdout", and no root's device is made a file of by "--profile /dev/null". */
static void a_pipe_stays_one(void)
{
        static const char path[] = "test-paths.pipe";
        struct stat status;
        char text[8] = "";
        int fd;

        unlink(path);
        check_int(mkfifo(path, 0600), 0);
        check_int(util_write_file(path, "text", 4, 0600), -ENXIO); /* no reader: do not wait */
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        check_int(util_write_file(path, "text", 4, 0600), 0);
        check_int(read(fd, text, sizeof(text) - 1), 4);
        check_text(text, "text");
        check(stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
        close(fd);
        unlink(path);
}

int main(void)
{
        char folder[] = "/tmp/joulecast-paths-XXXXXX"; /* build folders may be where no pipe can be made */

        check(mkdtemp(folder) && chdir(folder) == 0);
        a_pipe_stays_one();
        the_journal_has_one_place();
        virtual_devices_have_their_own();
        a_device_is_a_file();
        data_can_be_said();
        other_programs_have_no_prefix();
        check_int(rmdir(folder), 0);
        return check_result();
}
