from forq.cli import main

raise SystemExit(main())
