import WatchrunCommandLine

Watchrun.main()
